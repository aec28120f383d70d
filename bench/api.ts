import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { startApi } from '../src/api/index.ts';
import { createToken } from '../src/auth/index.ts';
import { loadConfig } from '../src/config/index.ts';
import { openDatabase } from '../src/db/index.ts';
import { createLog, createMetrics, systemClock } from '../src/telemetry/index.ts';
import { loadDocuments, wordOf } from './api-documents.ts';
import { loadFrontier, planDomains } from './frontier/load.ts';
import { startBenchServer } from './frontier/server.ts';

type Timing = { p50: number; p95: number };

/** How long the API's lists and searches take on a full database, over HTTP. */
export async function run(args: string[]): Promise<object> {
  const { values } = parseArgs({
    args,
    options: {
      rows: { type: 'string', default: '1000000' },
      documents: { type: 'string', default: '100000' },
      rounds: { type: 'string', default: '40' },
    },
    strict: false,
  });
  const [rows, documents, rounds] = [Number(values.rows), Number(values.documents), Number(values.rounds)];
  const server = await startBenchServer();
  try {
    console.error(`api: ${rows} frontier rows`);
    const domains = planDomains(rows);
    await loadFrontier(server.admin, domains);
    await loadDocuments(server.admin, documents);
    const { config } = loadConfig({
      env: {},
      overrides: { 'api.port': 0, 'api.requests_per_minute': 1_000_000 },
    });
    const database = await openDatabase({
      databaseUrl: server.connectionString,
      applicationName: 'bench api',
    });
    const log = createLog({ level: 'error', format: 'json' });
    const api = await startApi({
      database,
      config,
      clock: systemClock,
      log,
      metrics: createMetrics(),
      version: 'bench',
      loops: () => [],
    });
    const made = await createToken(database.pool, { name: 'bench', role: 'read', actor: 'bench' });
    if (made.outcome !== 'created') throw new Error('the database is not new');
    try {
      const routes: Record<string, Timing> = {};
      for (const [name, path] of Object.entries(paths(domains[0]!.name)))
        routes[name] = await time(rounds, made.token, (n) => `${api.address}${path(n)}`);
      return { rows, domains: domains.length, documents, load: loadavg()[0], routes };
    } finally {
      await api.close();
      await database.close();
    }
  } finally {
    await server.close();
  }
}

/** The routes by what they ask for; n makes each round ask for something else. */
function paths(domain: string): Record<string, (n: number) => string> {
  const search = (words: string, more = ''): string =>
    `/api/v1/documents?q=${encodeURIComponent(words)}${more}`;
  return {
    searchRare: (n) => search(wordOf(20_000 + n)),
    searchUsual: (n) => search(wordOf(500 + n * 7)),
    searchCommon: (n) => search(wordOf(1 + (n % 5))),
    searchTwoWords: (n) => search(`${wordOf(30 + n)} ${wordOf(200 + n)}`),
    searchPhrase: (n) => search(`"${wordOf(2 + n)} ${wordOf(3 + n)}"`),
    searchEither: (n) => search(`${wordOf(40 + n)} or ${wordOf(900 + n)}`),
    searchOfSource: (n) => search(wordOf(2 + n), `&source=source_${1 + n}`),
    searchOfDomain: (n) => search(wordOf(2 + n), `&domain=${domain}`),
    searchOfLanguage: (n) => search(wordOf(2 + n), '&language=de'),
    searchOfWeek: (n) =>
      search(wordOf(50 + n), `&since=${new Date(Date.now() - 7 * 86_400_000).toISOString()}`),
    documents: () => '/api/v1/documents?limit=100',
    documentsOfSource: (n) => `/api/v1/documents?limit=100&source=source_${1 + n}`,
    sources: () => '/api/v1/sources',
    domains: () => '/api/v1/domains',
    frontierStats: () => '/api/v1/frontier/stats',
  };
}

async function time(rounds: number, token: string, url: (n: number) => string): Promise<Timing> {
  const taken: number[] = [];
  // The first rounds bring pages into memory, as the first users of a day do.
  for (let n = -5; n < rounds; n += 1) {
    const startedAt = performance.now();
    const response = await fetch(url(Math.max(0, n)), { headers: { authorization: `Bearer ${token}` } });
    const text = await response.text();
    if (!response.ok) throw new Error(`${url(n)}: ${response.status} ${text.slice(0, 300)}`);
    if (n >= 0) taken.push(performance.now() - startedAt);
  }
  taken.sort((a, b) => a - b);
  const at = (share: number): number =>
    Number(taken[Math.min(taken.length - 1, Math.floor(taken.length * share))]!.toFixed(1));
  return { p50: at(0.5), p95: at(0.95) };
}
