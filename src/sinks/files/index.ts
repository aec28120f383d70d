export { createNdjsonSink, type NdjsonOptions } from './ndjson-sink.ts';
export { type SegmentOptions, Segments } from './segments.ts';
