import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, loadConfig } from '../src/config/index.ts';
import { destroyServer } from '../src/db/embedded/index.ts';
import { type Database, openDatabase } from '../src/db/index.ts';
import { startEngine } from '../src/engine.ts';
import { submit } from '../src/frontier/index.ts';
import { saveSwitch } from '../src/switches/index.ts';
import { createLog } from '../src/telemetry/index.ts';
import { passTime } from '../test/setup/rewind.ts';
import { startWeb, type Web } from '../test/web/index.ts';
import { readOptions } from './options.ts';

const hourMs = 3_600_000;
const stepMs = 2 * hourMs;
const kinds = [
  { name: 'never', editsEveryH: 1e9 },
  { name: 'daily', editsEveryH: 24 },
  { name: 'hourly', editsEveryH: 1 },
] as const;

/** How up to date the stored pages were, over the measured days. */
type Freshness = {
  requests: number;
  /** Share of time a stored page was what the web had, and how old what it lacked was. */
  freshShare: number;
  meanAgeHours: number;
  byKind: Record<string, { requests: number; freshShare: number; meanAgeHours: number }>;
};

/**
 * The refresh policy on the simulated web: pages that change never, daily and hourly, fetched by a real fetcher while
 * time passes in steps. The fixed interval it is compared with makes the same number of requests.
 */
export async function run(args: string[]): Promise<object> {
  const values = readOptions(args, {
    pages: ['pages of each publisher', 40],
    days: ['days', 24],
    warm: ['days before anything is measured', 8],
  });
  const size = { pages: values.pages, days: values.days, warmDays: values.warm };
  console.error(
    `refresh: ${kinds.length} publishers with ${size.pages} pages each, ${size.days} days, the last ${size.days - size.warmDays} measured`,
  );
  const adaptive = await measure({ ...size, adaptive: true, firstDays: 1 });
  console.error(
    `adaptive: ${adaptive.requests} requests, fresh ${adaptive.freshShare}, age ${adaptive.meanAgeHours} h`,
  );
  // Time passes in steps, so the interval is cut to whole ones: the fixed one makes no fewer requests.
  const equalMs = ((size.days - size.warmDays) * 24 * hourMs * size.pages * kinds.length) / adaptive.requests;
  const everyDays = (Math.floor(equalMs / stepMs) * stepMs) / (24 * hourMs);
  const fixed = await measure({ ...size, adaptive: false, firstDays: everyDays });
  console.error(
    `fixed every ${(everyDays * 24).toFixed(1)} h: ${fixed.requests} requests, fresh ${fixed.freshShare}, age ${fixed.meanAgeHours} h`,
  );
  return {
    ...size,
    load: Number(loadavg()[0]!.toFixed(2)),
    adaptive,
    fixed: { everyHours: Number((everyDays * 24).toFixed(2)), ...fixed },
    ageRatio: Number((adaptive.meanAgeHours / fixed.meanAgeHours).toFixed(3)),
    requestRatio: Number((adaptive.requests / fixed.requests).toFixed(3)),
  };
}

type Setup = { pages: number; days: number; warmDays: number; adaptive: boolean; firstDays: number };

async function measure(setup: Setup): Promise<Freshness> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'outrider-refresh-')));
  const web = await startWeb({
    seed: 17,
    publishers: kinds.length,
    changes: kinds.map(({ editsEveryH }) => ({
      editsEveryH,
      backlog: setup.pages,
      ratePerDay: 5,
      language: 'en',
      urlStyle: 'dated',
      robots: { disallow: [], allow: [], crawlDelayS: 0 },
      faults: [],
      duplicates: false,
      syndicates: false,
    })),
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  const dataDir = join(dir, 'data');
  const database = await openDatabase({ dataDir, maxConnections: 4 });
  try {
    await web.writeHostsFile(join(dir, 'hosts'));
    const articles = web.groundTruth().flatMap((one) => one.articles.slice(0, setup.pages));
    await submit(
      database.pool,
      articles.map(({ url }) => ({
        url,
        kind: 'article' as const,
        origin: 'manual' as const,
        sourceId: null,
        priority: 5,
        own: true,
      })),
    );
    await saveSwitch(database.pool, 'adaptive_intervals', setup.adaptive, 'bench');
    return await watch(web, database, configOf(setup, database, dir, web.port), setup);
  } finally {
    await web.close();
    await database.close();
    await destroyServer(dataDir);
    rmSync(dir, { recursive: true, force: true });
  }
}

function configOf(setup: Setup, database: Database, dir: string, port: number): Config {
  const { config } = loadConfig({
    env: {},
    overrides: {
      'database.url': database.connectionString,
      'render.enabled': 'off',
      'fetch.hosts_file': join(dir, 'hosts'),
      'fetch.allow_networks': [`127.0.0.0/8:${port}`],
      'fetch.default_delay_ms': 0,
      'fetch.network_gap_ms': 0,
      'documents.keep_html': 'none',
      'domains.max_pages_per_run': 0,
    },
  });
  // Whole days are enough for people; the comparison needs the same number of requests.
  return { ...config, domains: { ...config.domains, refreshDays: setup.firstDays } };
}

type Page = { kind: number; seenMs: number; staleSinceMs: number | null };

async function watch(web: Web, database: Database, config: Config, setup: Setup): Promise<Freshness> {
  const hostKind = new Map(
    web.publishers.flatMap((one) => one.hosts.map((host) => [host, one.index] as const)),
  );
  const pages = new Map<string, Page>();
  const sums = kinds.map(() => ({ requests: 0, samples: 0, fresh: 0, ageMs: 0 }));
  const steps = Math.round((setup.days * 24 * hourMs) / stepMs);
  for (let step = 0; step <= steps; step += 1) {
    const measured = step * stepMs >= setup.warmDays * 24 * hourMs;
    if (step > 0) {
      web.clock.advance(stepMs);
      await passTime(database.pool, stepMs);
    }
    const now = web.clock.now();
    const changed = new Map(
      web.groundTruth().flatMap((one) => one.articles.map((article) => [article.url, article.changedMs])),
    );
    for (const [url, page] of pages) {
      const changedMs = changed.get(url)!;
      if (changedMs > page.seenMs) page.staleSinceMs ??= Math.max(changedMs, page.seenMs);
      if (!measured) continue;
      const sum = sums[page.kind]!;
      sum.samples += 1;
      if (page.staleSinceMs === null) sum.fresh += 1;
      else sum.ageMs += now - page.staleSinceMs;
    }
    const since = web.log.nextSeq;
    await fetchWhatIsDue(database, config);
    for (const { host, path } of web.log.read(since)) {
      const url = `http://${host}${path}`;
      if (!changed.has(url)) continue;
      const kind = hostKind.get(host)!;
      pages.set(url, { kind, seenMs: changed.get(url)!, staleSinceMs: null });
      if (measured) sums[kind]!.requests += 1;
    }
  }
  const total = sums.reduce(
    (all, one) => ({
      requests: all.requests + one.requests,
      samples: all.samples + one.samples,
      fresh: all.fresh + one.fresh,
      ageMs: all.ageMs + one.ageMs,
    }),
    { requests: 0, samples: 0, fresh: 0, ageMs: 0 },
  );
  return {
    ...rounded(total),
    byKind: Object.fromEntries(kinds.map(({ name }, index) => [name, rounded(sums[index]!)])),
  };
}

function rounded(sum: { requests: number; samples: number; fresh: number; ageMs: number }) {
  return {
    requests: sum.requests,
    freshShare: Number((sum.fresh / sum.samples).toFixed(4)),
    meanAgeHours: Number((sum.ageMs / sum.samples / hourMs).toFixed(3)),
  };
}

/** One short life of a fetcher: everything that is due by now, and no more. */
async function fetchWhatIsDue(database: Database, config: Config): Promise<void> {
  const due = `SELECT count(*)::integer AS left FROM url_frontier WHERE ready OR (due_at <= now() AND status IN ('pending', 'failed', 'fetched'))`;
  const left = async (): Promise<number> => (await database.pool.query<{ left: number }>(due)).rows[0]!.left;
  if ((await left()) === 0) return;
  const log = createLog({ level: 'error', format: 'json' });
  const engine = await startEngine({ config, roles: ['fetch'], version: '0.0.0-bench', log });
  while ((await left()) > 0) await new Promise((resolve) => setTimeout(resolve, 25));
  await engine.stop();
}
