export { createWarcSink, type WarcOptions } from './warc-sink.ts';
