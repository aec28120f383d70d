export { type ArchiveOptions, archiveKey, createArchiveSink } from './archive-sink.ts';
