import { loadavg } from 'node:os';
import { startApi } from '../src/api/index.ts';
import { createToken } from '../src/auth/index.ts';
import { loadConfig } from '../src/config/index.ts';
import { openDatabase } from '../src/db/index.ts';
import { createLog, createMetrics, systemClock } from '../src/telemetry/index.ts';
import { loadDocuments } from './api-documents.ts';
import { routesOf } from './api-routes.ts';
import { loadFrontier, planDomains } from './frontier/load.ts';
import { startBenchServer } from './frontier/server.ts';
import { readOptions } from './options.ts';

type Timing = { p50: number; p95: number };

/** How long the API's lists and searches take on a full database, over HTTP. */
export async function run(args: string[]): Promise<object> {
  const { rows, documents, rounds, ...values } = readOptions(args, {
    rows: ['URLs in the frontier', 1_000_000],
    documents: ['documents', 100_000],
    rounds: ['requests of each route', 40],
    only: ['routes whose names match', ''],
  });
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
    // Some answers are shared for seconds: by this clock every request is the first of its minute.
    let aheadMs = 0;
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
    const api = await startApi({
      database,
      config,
      clock,
      log,
      metrics: createMetrics(),
      version: 'bench',
      loops: () => [],
    });
    const made = await createToken(database.pool, { name: 'bench', role: 'write', actor: 'bench' });
    if (made.outcome !== 'created') throw new Error('the database is not new');
    try {
      const routes: Record<string, Timing> = {};
      const only = new RegExp(values.only, 'i');
      for (const [name, path] of Object.entries(routesOf(domains)))
        if (only.test(name))
          routes[name] = await time(rounds, made.token, (n) => {
            aheadMs += 60_000;
            return `${api.address}${path(n)}`;
          });
      const submit10k = await timeSubmits(api.address, made.token);
      return { rows, domains: domains.length, documents, load: loadavg()[0], submit10k, routes };
    } finally {
      await api.close();
      await database.close();
    }
  } finally {
    await server.close();
  }
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
  return timingOf(taken);
}

function timingOf(taken: number[]): Timing {
  const sorted = taken.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    Number(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1));
  return { p50: at(0.5), p95: at(0.95) };
}

/** Ten thousand new URLs of two thousand domains in one call, and the same once more. */
async function timeSubmits(
  address: string,
  token: string,
): Promise<Record<'new' | 'known' | 'dryRun', Timing>> {
  const send = async (round: number, dryRun: boolean): Promise<number> => {
    const urls = Array.from(
      { length: 10_000 },
      (_, n) => `https://wish-${n % 2000}.example/round-${round}/a-story-of-the-usual-length-${n}`,
    );
    const body = JSON.stringify({ urls, dry_run: dryRun });
    const startedAt = performance.now();
    const response = await fetch(`${address}/api/v1/frontier/submit/bulk`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
    });
    const { items } = (await response.json()) as { items: unknown[] };
    if (!response.ok || items.length !== urls.length) throw new Error(`bulk submit: ${response.status}`);
    return performance.now() - startedAt;
  };
  const taken = { new: [] as number[], known: [] as number[], dryRun: [] as number[] };
  for (let round = 0; round < 5; round += 1) {
    taken.dryRun.push(await send(round, true));
    taken.new.push(await send(round, false));
    taken.known.push(await send(round, false));
  }
  return { new: timingOf(taken.new), known: timingOf(taken.known), dryRun: timingOf(taken.dryRun) };
}
