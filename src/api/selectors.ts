import { readFileSync } from 'node:fs';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { type Config, userAgentOf } from '../config/index.ts';
import type { Database } from '../db/index.ts';
import { loadSelectorRates } from '../documents/index.ts';
import { AppError } from '../errors/index.ts';
import type { Selectors } from '../extract/index.ts';
import type { PageSample } from '../fetch/index.ts';
import type { PageResponse } from '../ingest/index.ts';
import { withScheme } from '../source-lists/index.ts';
import { requireSource, type Source } from '../sources/index.ts';
import type { Clock } from '../telemetry/index.ts';
import { requireAllowed } from './addresses.ts';
import { address, answer, count, oneOf, orNull, slug, strict } from './schemas.ts';
import { selectorRate, selectorsShape } from './source-schemas.ts';

const mostAtOnce = 4;
const mostBodyBytes = 5_000_000;

const matchShape = answer({
  field: Type.String(),
  selector: Type.String(),
  outcome: oneOf(['matched', 'no_match', 'no_value', 'invalid_selector'] as const),
  matches: Type.Integer({ minimum: 0, description: 'elements that it matches, counted to 1,000' }),
  texts: Type.Array(Type.String(), {
    description: 'what the first five of them say: their text, or the attribute that the field is read from',
  }),
  message: orNull(Type.String({ description: 'what is wrong with it, in words; null: nothing' })),
});

const sampleShape = answer({
  url: Type.String(),
  status: Type.Integer(),
  selectors: Type.Array(matchShape),
  matched: count,
  extraction: answer({
    title: orNull(Type.String()),
    authors: Type.Array(Type.String()),
    publishedAt: orNull(Type.String()),
    section: orNull(Type.String()),
    leadImage: orNull(Type.String()),
    wordCount: count,
    text: Type.String(),
  }),
  rates: Type.Array(selectorRate),
});

type Options = { database: Database; config: Config; clock: Clock; version: string };

/** `POST /api/v1/sources/test-selectors`: what selectors give on a page, before a source has them. */
export function addSelectorRoutes(instance: FastifyInstance, options: Options): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  const { pool } = options.database;
  let running = 0;
  app.post(
    '/api/v1/sources/test-selectors',
    {
      schema: {
        operationId: 'testSelectors',
        tags: ['sources'],
        summary: 'What each selector gives on one page, fetched now',
        description:
          'The page is asked for once, politely: in a turn of its domain and as robots.txt allows. With a source, `rates` tells how often its selectors matched on stored documents.',
        body: Type.Object({ url: address, selectors: selectorsShape, source: Type.Optional(slug) }, strict),
        response: { 200: sampleShape },
      },
    },
    async ({ body }) => {
      const url = withScheme(body.url);
      await requireAllowed(options.config, url);
      const source = body.source === undefined ? null : await requireSource(pool, body.source);
      if (running >= mostAtOnce)
        throw new AppError('too_many_tests', `${mostAtOnce} pages are being fetched already`, {
          httpStatus: 429,
          retry: true,
        });
      running += 1;
      try {
        const page = required(await fetchSample(url, options));
        const { testSelectors } = await import('../ingest/index.ts');
        const read = await testSelectors(responseOf(page), settingsOf(body.selectors as Selectors));
        if (read.outcome === 'unreadable')
          throw new AppError('page_unreadable', `${page.url} could not be read: ${read.detail}`, {
            httpStatus: 422,
            advice: 'A selector that takes so long would not be used in a crawl either.',
          });
        const rates = source === null ? [] : await loadSelectorRates(pool, source);
        return { url: page.url, status: page.status, ...read.sample, rates };
      } finally {
        running -= 1;
      }
    },
  );
}

async function fetchSample(url: string, { database, config, clock, version }: Options): Promise<PageSample> {
  // Here and not above: half a second that only this route needs.
  const { createHttpClient, parseHostsFile, samplePage } = await import('../fetch/index.ts');
  const { fetch } = config;
  const client = createHttpClient({
    userAgent: userAgentOf(config, version),
    allowNetworks: fetch.allowNetworks,
    ...(fetch.hostsFile === null ? {} : { hosts: parseHostsFile(readFileSync(fetch.hostsFile, 'utf8')) }),
    timeoutMs: fetch.timeoutMs,
    headersTimeoutMs: fetch.headersTimeoutMs,
    maxBodyBytes: Math.min(mostBodyBytes, fetch.maxBodyBytes),
  });
  try {
    return await samplePage(url, {
      db: database.pool,
      client,
      clock,
      productToken: fetch.productToken,
      defaultDelayMs: fetch.defaultDelayMs,
    });
  } finally {
    await client.close();
  }
}

type Fetched = Extract<PageSample, { outcome: 'page' }>;

function required(sample: PageSample): Fetched {
  switch (sample.outcome) {
    case 'page':
      return sample;
    case 'busy':
      throw new AppError('domain_busy', `${sample.domain} is being fetched or rests at the moment`, {
        httpStatus: 409,
        retry: true,
        advice: 'Try again in some seconds.',
      });
    case 'disallowed':
      throw new AppError('robots_disallowed', `robots.txt forbids ${sample.url}`, { httpStatus: 422 });
    case 'failed':
      throw new AppError('fetch_failed', `${sample.url} could not be fetched (${sample.reason})`, {
        httpStatus: 422,
        retry: true,
        advice: 'Try the address in a browser.',
      });
  }
}

const responseOf = ({ url, identity, status, headers, body }: Fetched): PageResponse => ({
  row: { hash: identity.hash, url, kind: 'article', origin: 'manual', sourceId: null, depth: 0 },
  finalUrl: url,
  finalHash: identity.hash,
  status,
  headers,
  body,
  wireBody: null,
  contentEncoding: null,
});

// Only the selectors of this source are ever looked at.
const settingsOf = (selectors: Selectors) => ({
  source: { settings: { selectors } } as Source,
  channel: null,
  minWords: 0,
  minBodyBytes: 0,
  keepHtml: 'none' as const,
  sitemapMaxAgeMs: 0,
  nowMs: 0,
});
