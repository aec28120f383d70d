import { decideWeight, expectItems, parseRhythm } from '../../src/channels/index.ts';
import { type Config, loadConfig } from '../../src/config/index.ts';
import { openDatabase, type Queryable } from '../../src/db/index.ts';
import { loadSwitches } from '../../src/switches/index.ts';
import { hashOf, shareOf } from '../../test/web/random.ts';
import { manner, type Publisher, webDefaults } from './web.ts';

/** A web as a database has seen it, and the settings it is crawled with. */
export type DatabaseModel = {
  publishers: Publisher[];
  startMs: number;
  config: Config;
  /** Switches that are off, how many fetchers there are, by the names that `--set` takes. */
  changes: [string, string][];
  /** What was read, for people. */
  facts: object;
};

/** What is read of a channel, its source, its domain and the newest requests to it. */
type ChannelRow = {
  id: number;
  kind: string;
  intervalSeconds: number;
  isFixed: boolean;
  ageDays: number;
  polls: number;
  notModified: number;
  itemsSeen: number;
  itemsNew: number;
  errorKind: string | null;
  rhythm: unknown;
  floorSeconds: number | null;
  pushed: boolean;
  domain: string;
  status: string | null;
  documents: number;
  budgeted: number;
  delayMs: number;
  latencyMs: number | null;
  logged: number;
  failed: number;
  bytes: number | null;
};

const pageSize = 1000;
// Enough for a mean; a domain may have thousands a day.
const requestsPerDomain = 50;
const hourMs = 3_600_000;
const mostPages = 20_000;
const fewPerDay = 0.2;

/** Reads a model from a database; changes nothing there. */
export async function loadModel(
  from: { databaseUrl?: string; dataDir?: string },
  env: NodeJS.ProcessEnv,
): Promise<DatabaseModel> {
  const { config } = loadConfig({ env });
  const database = await openDatabase({
    ...from,
    migrate: false,
    applicationName: 'outrider simulate',
    maxConnections: 2,
  });
  try {
    return await readModel(database.pool, config);
  } finally {
    await database.close();
  }
}

/** The same from an open database. */
export async function readModel(db: Queryable, config: Config): Promise<DatabaseModel> {
  const nowMs = (await db.query<{ now: Date }>('SELECT now()')).rows[0]!.now.getTime();
  const startMs = Math.floor(nowMs / hourMs) * hourMs;
  const publishers: Publisher[] = [];
  const seen = new Set<string>();
  let last = 0;
  let learnt = 0;
  for (;;) {
    const rows = await loadChannels(db, last);
    for (const row of rows) {
      const publisher = publisherOf(row, { startMs, isFirst: !seen.has(row.domain) });
      if (publisher.rhythm != null) learnt += 1;
      publishers.push(publisher);
      seen.add(row.domain);
    }
    if (rows.length < pageSize) break;
    last = rows.at(-1)!.id;
  }
  return {
    publishers,
    startMs,
    config,
    changes: await loadChanges(db, config, publishers),
    facts: { channels: publishers.length, domains: seen.size, learnt },
  };
}

/** A page of channels. Indexes: channels_pkey, then keys of single rows; crawl_log_domain for the newest requests. */
async function loadChannels(db: Queryable, after: number): Promise<ChannelRow[]> {
  const result = await db.query<ChannelRow>(
    `SELECT c.id, c.kind, c.interval_seconds AS "intervalSeconds",
            coalesce(o.settings ->> 'fixedInterval' = 'true', false) AS "isFixed",
            extract(epoch FROM now() - c.created_at)::float8 / 86400 AS "ageDays",
            coalesce(s.polls, 0)::float8 AS polls, coalesce(s.not_modified, 0)::float8 AS "notModified",
            coalesce(s.items_seen, 0)::float8 AS "itemsSeen", coalesce(s.items_new, 0)::float8 AS "itemsNew",
            s.error_kind AS "errorKind", s.rhythm, s.floor_seconds AS "floorSeconds",
            coalesce(s.pushed_until > now(), false) AS pushed, c.bucket || ':' || c.domain_key AS domain,
            d.status::text, coalesce(d.documents, 0)::float8 AS documents, coalesce(t.budgeted, 0)::float8 AS budgeted,
            greatest(coalesce(t.robots_delay_ms, 0), coalesce(t.configured_delay_ms, 0), coalesce(o.rate_limit_ms, 0)) AS "delayMs",
            l.latency AS "latencyMs", l.logged::float8, l.failed::float8, l.bytes::float8
       FROM channels c
       JOIN sources o ON o.id = c.source_id
       LEFT JOIN channel_state s ON s.bucket = c.bucket AND s.channel_id = c.id
       LEFT JOIN domains d ON d.bucket = c.bucket AND d.domain_key = c.domain_key
       LEFT JOIN domain_slots t ON t.bucket = c.bucket AND t.domain_key = c.domain_key
      CROSS JOIN LATERAL (
        SELECT avg(r.headers_ms)::float8 AS latency, count(*) AS logged,
               count(*) FILTER (WHERE r.status IS NULL OR r.status >= 500) AS failed,
               avg(r.bytes) FILTER (WHERE r.kind = 'article' AND r.status = 200) AS bytes
          FROM (SELECT r.headers_ms, r.status, r.kind, r.bytes FROM crawl_log r
                 WHERE r.bucket = c.bucket AND r.domain_key = c.domain_key AND r.at > now() - interval '7 days'
                 ORDER BY r.at DESC LIMIT ${requestsPerDomain}) r) l
      WHERE c.id > $1 AND c.enabled AND o.enabled AND o.ingestion_mode <> 'spider' AND c.parent_id IS NULL
      ORDER BY c.id LIMIT ${pageSize}`,
    [after],
  );
  return result.rows;
}

function publisherOf(row: ChannelRow, at: { startMs: number; isFirst: boolean }): Publisher {
  const { startMs, isFirst } = at;
  const seed = hashOf('channel', row.id);
  const rhythm = parseRhythm(row.rhythm);
  const expected = rhythm === null ? null : expectItems(rhythm, startMs);
  const isSitemap = row.kind !== 'feed';
  const bodies = Math.max(0, row.polls - row.notModified);
  return {
    seed,
    ratePerDay: expected === null ? rateOf(row) : expected.rate * 24,
    zoneH: 0,
    ...(expected === null ? {} : { weights: { hours: expected.hours, days: expected.days } }),
    ...(rhythm === null
      ? {}
      : {
          rhythm,
          weight: decideWeight(
            { nowMs: startMs, intervalSeconds: row.intervalSeconds, multiplier: null },
            rhythm,
          ),
        }),
    isFixed: row.isFixed,
    intervalSeconds: row.intervalSeconds,
    isSitemap,
    feedItems: isSitemap
      ? 1000
      : bodies > 0 && row.itemsSeen > 0
        ? Math.max(1, Math.round(row.itemsSeen / bodies))
        : webDefaults.feedItems,
    conditional: row.polls === 0 || row.notModified > 0,
    datesEdits: shareOf(seed, 'edits') < webDefaults.datesEditsShare,
    floorSeconds: row.floorSeconds ?? 0,
    crawlDelayMs: row.delayMs,
    manner: mannerOf(row),
    errorRate: row.logged >= 10 && row.failed < row.logged ? row.failed / row.logged : webDefaults.errorRate,
    latencyMs: Math.max(1, row.latencyMs ?? webDefaults.latencyMedianMs),
    hub: row.pushed,
    // Of a domain with several channels, the first has its pages.
    archivePages: isFirst ? Math.min(mostPages, row.budgeted) : 0,
    knownPages: isFirst ? Math.min(mostPages, row.documents) : 0,
    pageKb: row.bytes === null ? webDefaults.pageKb : Math.max(1, row.bytes / 1024),
  };
}

/** New items a day of a channel that nothing was learnt of. */
function rateOf(row: ChannelRow): number {
  return row.polls > 0 && row.ageDays > 1 ? Math.max(fewPerDay, row.itemsNew / row.ageDays) : fewPerDay;
}

function mannerOf({ status, errorKind }: ChannelRow): number {
  if (status === 'blocked') return manner.refuses;
  if (status === 'unreachable') return manner.gone;
  return errorKind === '429' ? manner.limits : manner.well;
}

async function loadChanges(
  db: Queryable,
  config: Config,
  publishers: readonly Publisher[],
): Promise<[string, string][]> {
  const switches = await loadSwitches(db);
  const alive = await db.query<{ fetchers: number }>(
    `SELECT count(*)::integer AS fetchers FROM workers
      WHERE role = 'fetch' AND heartbeat_at > now() - interval '1 minute'`,
  );
  const isPushed = config.websub.callbackUrl !== null || publishers.some(({ hub }) => hub);
  const onOff = (isOn: boolean): string => (isOn ? 'on' : 'off');
  return [
    ['fetchers', String(Math.max(1, alive.rows[0]!.fetchers))],
    ['switch.adaptive_intervals', onOff(switches.adaptive_intervals)],
    ['switch.refresh', onOff(switches.refresh)],
    ['switch.budgets', onOff(switches.budgets)],
    ['websub', onOff(isPushed)],
  ];
}
