export { createElasticsearchSink, type ElasticsearchOptions } from './elasticsearch-sink.ts';
