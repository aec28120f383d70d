import { createHash } from 'node:crypto';
import { loadavg } from 'node:os';
import { lease, type SettleDocument, settle, submit } from '../src/frontier/index.ts';
import { enableSink, saveSink } from '../src/outbox/index.ts';
import { identifyUrl } from '../src/url/index.ts';
import { type Figures, type MeteredClient, measure } from './frontier/meter.ts';
import { startBenchServer } from './frontier/server.ts';
import { readOptions } from './options.ts';

const pagesPerSettle = 10;
const text =
  'What was said about the harbour, the ferry and the old pier in the council on Thursday. '.repeat(40);
const body = Buffer.from(createHash('sha512').update('page').digest('hex').repeat(150));
// As many as there are kinds that take documents.
const others = ['elasticsearch', 'files', 'archive', 'webhook'];

/** What sinks cost the settle: the same documents with none, with those that are there by default, and with all. */
export async function run(args: string[]): Promise<object> {
  const { pages, rounds } = readOptions(args, {
    pages: ['pages of a round', 4000],
    rounds: ['rounds of each', 4],
  });
  const server = await startBenchServer();
  try {
    const metered = await server.connect();
    for (const name of others) await saveSink(server.admin, { name, kind: name, enabled: false });
    const best: Record<string, Figures> = {};
    // In turn, and the best round of each: the machine is shared.
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, on] of [
        ['none', []],
        ['byDefault', ['index']],
        ['all', ['index', ...others]],
      ] as const) {
        for (const sink of ['index', ...others])
          await enableSink(
            server.admin,
            sink,
            on.some((one) => one === sink),
          );
        const figures = await measure(server.admin, metered, () =>
          storeMany(metered, `${name}-${round}`, pages),
        );
        await server.admin.query(
          'TRUNCATE outbox, documents, document_versions, raw_pages, url_frontier, domain_slots, domains',
        );
        console.error(
          `sinks: ${name} ${figures.cpuUsPerUrl} µs, ${figures.buffersPerUrl} buffers per document`,
        );
        if ((figures.cpuUsPerUrl ?? 0) < (best[name]?.cpuUsPerUrl ?? Number.POSITIVE_INFINITY))
          best[name] = figures;
      }
    }
    const ratio = (name: string): number =>
      Number(((best[name]!.cpuUsPerUrl ?? 0) / (best.none!.cpuUsPerUrl ?? 1)).toFixed(3));
    return {
      pages,
      pagesPerSettle,
      load: loadavg()[0],
      ...best,
      ratioByDefault: ratio('byDefault'),
      ratioAll: ratio('all'),
    };
  } finally {
    await server.close();
  }
}

async function storeMany(
  { client }: MeteredClient,
  run: string,
  pages: number,
): Promise<{ urls: number; calls: number }> {
  let calls = 0;
  for (let from = 0; from < pages; from += pagesPerSettle) {
    const host = `https://${run}-${from % 500}.example`;
    const urls = Array.from({ length: pagesPerSettle }, (_, n) => `${host}/news/${from + n}`);
    const item = { kind: 'article', origin: 'feed', sourceId: 1, priority: 5, own: true } as const;
    await submit(
      client,
      urls.map((url) => ({ ...item, url })),
    );
    const options = {
      owner: 'bench',
      pool: 'default',
      slots: 1,
      leaseMs: 60_000,
      defaultDelayMs: 0,
      batch: 50,
    };
    for (const held of await lease(client, options)) {
      await settle(client, held, {
        owner: 'bench',
        final: true,
        items: held.urls.map(({ hash }) => ({
          hash,
          status: 'fetched',
          kind: 'article',
          dueInMs: null,
          fetched: true,
        })),
        documents: held.urls.map(({ hash, url }) => documentOf(hash, url)),
        requests: [],
        monotonicMs: 0,
        lastAnswerAt: 0,
        defaultDelayMs: 0,
      });
      calls += 1;
    }
  }
  return { urls: pages, calls };
}

function documentOf(hash: Buffer, url: string): SettleDocument {
  const identified = identifyUrl(url);
  if (identified.outcome === 'rejected') throw new Error(`${url} is refused`);
  return {
    hash,
    url,
    sourceId: 1,
    wordCount: 600,
    confidence: 1,
    publishedAt: new Date(),
    modifiedAt: null,
    contentHash: hash,
    pageType: 'article',
    language: 'en',
    canonicalUrl: url,
    title: 'What was said about the harbour',
    section: 'Local',
    description: 'The council spoke about the harbour.',
    leadImage: `${url}.jpg`,
    authors: ['Ada Writer'],
    keywords: ['harbour', 'ferry'],
    meta: { openGraph: { 'og:title': 'What was said about the harbour' }, images: [] },
    text: `${url} ${text}`,
    raw: { body, encoding: 'br', contentType: 'text/html' },
  };
}
