import type { Config } from '../config/index.ts';
import { AppError, EXIT } from '../errors/index.ts';
import type { S3Options } from './transport.ts';

/** The store of the settings with a bucket of its own for each use; `use` is the group that names the bucket. */
export function configuredS3(
  config: Pick<Config, 's3'>,
  use: string,
  bucket: string | null,
): S3Options & { bucket: string } {
  const { endpoint, region, accessKey, secretKey, style } = config.s3;
  const missing = Object.entries({
    's3.endpoint': endpoint,
    's3.access_key': accessKey,
    's3.secret_key': secretKey,
    [`${use}.bucket`]: bucket,
  })
    .filter(([, value]) => value === null)
    .map(([name]) => name);
  if (endpoint === null || accessKey === null || secretKey === null || bucket === null)
    throw new AppError(
      'config_invalid',
      `${use} is to use an S3 store, but ${missing.join(', ')} is not set`,
      {
        exitCode: EXIT.usage,
        advice: 'Set what is missing; see docs/reference/configuration.md.',
      },
    );
  return {
    endpoint,
    bucket,
    region,
    accessKeyId: accessKey,
    secretAccessKey: secretKey,
    pathStyle: style === 'path',
  };
}
