import { createElasticsearchSink } from '../../src/sinks/elasticsearch/index.ts';
import type { OpenSearch } from '../opensearch/index.ts';
import type { Received, SinkWorld } from './world.ts';

/** A real server behind the sink. */
export function openSearchWorld(server: OpenSearch): SinkWorld {
  const make = () =>
    createElasticsearchSink({
      name: 'elasticsearch',
      url: server.url,
      apiKey: null,
      shards: 1,
      replicas: 0,
      rawHtml: true,
      userAgent: 'test',
    });
  const sinks = [make()];
  return {
    sink: sinks[0]!,
    again: () => {
      sinks.push(make());
      return sinks.at(-1)!;
    },
    received: async () => {
      await server.ask('POST', '/*_raw_content/_refresh');
      const found = await server.ask<{ hits: { hits: { _id: string; _source: { raw_text: string } }[] } }>(
        'POST',
        '/*_raw_content/_search',
        { size: 10_000 },
      );
      const all = new Map<string, Received>();
      for (const { _id: id, _source } of found.hits.hits)
        all.set(id, { id, text: _source.raw_text, times: (all.get(id)?.times ?? 0) + 1 });
      return all;
    },
    break: () => server.kill(),
    mend: () => server.start(),
    close: async () => {
      for (const sink of sinks) await sink.close();
    },
  };
}
