import { readFileSync } from 'node:fs';
import type pg from 'pg';

/** What one URL costs the server; every figure is of the backends that served the calls, nobody else. */
export type Figures = {
  buffersPerUrl: number;
  cpuUsPerUrl: number | null;
  walBytesPerUrl: number;
  urlsPerS: number;
  /** Of the WAL above: pages written whole because a checkpoint had just passed. */
  fullPagesPerUrl: number;
  urls: number;
  /** Mean URLs per call, where calls take several. */
  batch?: number;
};

type Reading = { buffers: number; walBytes: number; fullPages: number; cpuNs: number | null; atMs: number };

/**
 * Reads what backends have done so far. Per-backend counters (PostgreSQL 18) see everything a call does, nested
 * statements, constraint checks and commit included, which EXPLAIN and pg_stat_statements do not. A buffer is a page
 * found in shared memory or read into it.
 */
export async function readMeter(observer: pg.Client, pids: readonly number[]): Promise<Reading> {
  const { rows } = await observer.query<{ buffers: number; wal: number; fpi: number }>(
    `SELECT sum(i.hits)::float8 + sum(coalesce(i.read_bytes, 0))::float8 / 8192 AS buffers, max(w.wal_bytes)::float8 AS wal,
            max(w.wal_fpi)::float8 AS fpi
       FROM unnest($1::integer[]) pid
      CROSS JOIN LATERAL (SELECT sum(hits) AS hits, sum(read_bytes) AS read_bytes FROM pg_stat_get_backend_io(pid)) i
      CROSS JOIN LATERAL (SELECT wal_bytes, wal_fpi FROM pg_stat_get_backend_wal(pid)) w
      GROUP BY pid`,
    [pids],
  );
  const total = (pick: (row: (typeof rows)[number]) => number): number =>
    rows.reduce((sum, row) => sum + pick(row), 0);
  return {
    buffers: total((row) => row.buffers),
    walBytes: total((row) => row.wal),
    fullPages: total((row) => row.fpi),
    cpuNs: readCpuNs(pids),
    atMs: performance.now(),
  };
}

// The scheduler's own count in nanoseconds; /proc/<pid>/stat counts in ticks of 10 ms.
function readCpuNs(pids: readonly number[]): number | null {
  if (process.platform !== 'linux') return null;
  return pids.reduce(
    (sum, pid) => sum + Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]),
    0,
  );
}

/** A connection whose work is measured. */
export class MeteredClient {
  readonly client: pg.Client;
  readonly pid: number;

  constructor(client: pg.Client, pid: number) {
    this.client = client;
    this.pid = pid;
  }

  /** Makes the backend hand in its counters, which it otherwise does once a second at most. */
  async flush(): Promise<void> {
    await this.client.query('SELECT pg_stat_force_next_flush()');
  }
}

/** Measures a piece of work that answers how many URLs it handled. */
export async function measure(
  observer: pg.Client,
  metered: MeteredClient,
  work: () => Promise<{ urls: number; calls?: number }>,
): Promise<Figures> {
  await metered.flush();
  const before = await readMeter(observer, [metered.pid]);
  const { urls, calls } = await work();
  const elapsedMs = performance.now() - before.atMs;
  await metered.flush();
  const after = await readMeter(observer, [metered.pid]);
  return figures(before, after, { urls, calls, elapsedMs });
}

/** Turns two readings into figures per URL. */
export function figures(
  before: Reading,
  after: Reading,
  done: { urls: number; calls?: number | undefined; elapsedMs: number },
): Figures {
  const { urls, calls, elapsedMs } = done;
  const per = (value: number): number => Math.round((value / Math.max(1, urls)) * 100) / 100;
  return {
    buffersPerUrl: per(after.buffers - before.buffers),
    cpuUsPerUrl:
      after.cpuNs === null || before.cpuNs === null ? null : per((after.cpuNs - before.cpuNs) / 1000),
    walBytesPerUrl: Math.round((after.walBytes - before.walBytes) / Math.max(1, urls)),
    urlsPerS: Math.round((urls / elapsedMs) * 1000),
    fullPagesPerUrl: per(after.fullPages - before.fullPages),
    urls,
    ...(calls === undefined ? {} : { batch: Math.round((urls / Math.max(1, calls)) * 10) / 10 }),
  };
}

/** Several measurements of the same thing as one, weighted by their URLs. */
export function combine(parts: readonly Figures[]): Figures {
  const urls = parts.reduce((sum, part) => sum + part.urls, 0);
  const mean = (pick: (part: Figures) => number): number =>
    Math.round((parts.reduce((sum, part) => sum + pick(part) * part.urls, 0) / Math.max(1, urls)) * 100) /
    100;
  const calls = parts.reduce((sum, part) => sum + part.urls / (part.batch ?? Number.POSITIVE_INFINITY), 0);
  const seconds = parts.reduce((sum, part) => sum + part.urls / part.urlsPerS, 0);
  return {
    buffersPerUrl: mean((part) => part.buffersPerUrl),
    cpuUsPerUrl: parts[0]?.cpuUsPerUrl == null ? null : mean((part) => part.cpuUsPerUrl ?? 0),
    walBytesPerUrl: Math.round(mean((part) => part.walBytesPerUrl)),
    urlsPerS: Math.round(urls / seconds),
    fullPagesPerUrl: mean((part) => part.fullPagesPerUrl),
    urls,
    ...(calls === 0 ? {} : { batch: Math.round((urls / calls) * 10) / 10 }),
  };
}
