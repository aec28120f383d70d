import type pg from 'pg';
import { createChannel } from '../../src/channels/index.ts';
import { saveWorker, submit } from '../../src/frontier/index.ts';
import { item } from '../frontier/fixtures.ts';
import { storeDocuments } from '../sinks/store.ts';

/** A fetcher and a scheduler that stay alive however long a test takes. */
export async function startWorkers(pool: pg.Pool): Promise<void> {
  for (const role of ['fetch', 'schedule'])
    await saveWorker(pool, {
      id: `${role}-1`,
      role,
      pool: 'default',
      version: '0',
      host: 'h',
      pid: 7,
      state: {},
    });
  await pool.query(`UPDATE workers SET heartbeat_at = now() + interval '1 hour'`);
}

/** Feeds of a source, polled next in an hour. */
export async function addFeeds(pool: pg.Pool, sourceId: number, count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const { channel } = await createChannel(pool, {
      sourceId,
      kind: 'feed',
      url: `https://herald.example/${n}.xml`,
      intervalSeconds: 900,
      foundBy: 'link',
    });
    ids.push(channel.id);
  }
  await pool.query(
    `UPDATE url_frontier SET due_at = now() + interval '1 hour', ready = false WHERE kind = 'channel'`,
  );
  return ids;
}

/** Polls of feeds that failed, the last one most often. */
export async function failFeeds(pool: pg.Pool, ids: readonly number[]): Promise<void> {
  await pool.query(
    `INSERT INTO channel_state (bucket, channel_id, errors_in_row, error_kind, failing_since)
     SELECT bucket, id, id, 'http_5xx', now() - interval '3 hours' FROM channels WHERE id = ANY ($1)
         ON CONFLICT (bucket, channel_id) DO UPDATE SET errors_in_row = excluded.errors_in_row,
            error_kind = excluded.error_kind, failing_since = excluded.failing_since`,
    [ids],
  );
}

/** How many channels are due within a minute. */
export async function countDue(pool: pg.Pool): Promise<number> {
  const result = await pool.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM url_frontier WHERE kind = 'channel' AND (ready OR due_at < now() + interval '1 minute')`,
  );
  return result.rows[0]!.count;
}

/** URLs of a domain that wait. */
export const addUrls = (pool: pg.Pool, domain: string, count: number): Promise<unknown> =>
  submit(
    pool,
    Array.from({ length: count }, (_, n) => item(domain, `p${n}`)),
  );

/** Documents of a newspaper. */
export const addDocuments = (pool: pg.Pool, titles: readonly string[]): Promise<void> =>
  storeDocuments(
    pool,
    titles.map((title, n) => ({
      url: `https://gazette.example/${Date.now()}/${n}`,
      title,
      language: 'en',
      publishedAt: new Date(Date.now() - (n + 1) * 3_600_000),
    })),
  );

/**
 * A history that tells its time by its numbers, so that a minute that begins while a test runs changes nothing: in a step
 * at minute m of an hour 100 + m were discovered. It reaches into the future. For five minutes nobody was there: answers
 * which of an hour's.
 */
export async function fillHistory(pool: pg.Pool): Promise<number[]> {
  await pool.query(
    `INSERT INTO rollups (minutes, at, inserted, items_duplicate, items_rejected, requests, fetched, documents, unchanged,
                          redirected, duplicate, failed, needs_render, dead, robots_blocked, looked_at, backlog, delivered,
                          latencies, delays)
     SELECT s.minutes, s.at, 100 + m, 40, 2, 120, 80 + m / 2, 60 + m / 3, 12, 3, 6, (m % 9), 1, m % 4, 1, s.at + interval '30 seconds',
            300 + 20 * m, extract(epoch FROM s.at)::bigint,
            histogram_of(array_fill(7::smallint, ARRAY[9]) || array_fill(11::smallint, ARRAY[1 + (m % 5)::integer])),
            histogram_of(array_fill((7 + m % 3)::smallint, ARRAY[4]))
       FROM (SELECT minutes, date_bin(make_interval(mins => minutes), now(), 'epoch') - n * make_interval(mins => minutes) AS at
               FROM unnest(ARRAY[1, 5, 60]) AS minutes CROSS JOIN generate_series(-10, 300) AS n) s
      CROSS JOIN LATERAL (SELECT extract(minute FROM s.at)::integer + CASE WHEN s.minutes = 60 THEN extract(hour FROM s.at)::integer ELSE 0 END AS m) x
`,
  );
  const result = await pool.query<{ minute: number }>(
    `DELETE FROM rollups WHERE minutes = 1 AND at > now() - interval '25 minutes' AND at <= now() - interval '20 minutes'
     RETURNING extract(minute FROM at)::integer AS minute`,
  );
  return result.rows.map(({ minute }) => minute);
}
