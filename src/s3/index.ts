export type { S3Object } from './answers.ts';
export { createS3Client, type PutOptions, type S3Client } from './client.ts';
export { configuredS3 } from './configured.ts';
export type { S3Failure, S3Options } from './transport.ts';
