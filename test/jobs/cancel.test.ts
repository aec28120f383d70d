import { afterAll, beforeAll, expect, test } from 'vitest';
import { findSlotProblems, submit } from '../../src/frontier/index.ts';
import { cancelJob } from '../../src/jobs/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { readExecutions, readJob } from './fixtures.ts';
import { JobLab, linked } from './lab.ts';

let lab: JobLab;
beforeAll(async () => {
  lab = await JobLab.open([
    linked('long', { backlog: 60, faults: [{ name: 'slow', options: { delayMs: 100 } }] }),
    linked('other', { backlog: 12 }),
  ]);
  lab.engine = await lab.start();
});
afterAll(() => lab?.close());

const rowsOf = async (sourceId: number): Promise<Record<string, number>> => {
  const result = await lab.database.pool.query<{ what: string; n: number }>(
    `SELECT concat_ws(':', status, error_code) AS what, count(*)::integer AS n FROM url_frontier
      WHERE source_id = $1 GROUP BY 1`,
    [sourceId],
  );
  return Object.fromEntries(result.rows.map((row) => [row.what, row.n]));
};

test('a cancelled run ends: what waits is dead, what flew is counted, nothing starts after it', async () => {
  const source = await lab.source('long');
  const id = await lab.job({ kind: 'crawl', source_id: source.id });
  await waitUntil('it is under way', () => lab.requests('long').length >= 4);
  expect(await cancelJob(lab.database.pool, id, { actor: 'ann', reason: 'enough' })).toBe('running');
  await waitUntil('its rows are let go', async () => {
    const [execution] = await readExecutions(lab.database.pool, id);
    return execution!.sweep === null || JSON.stringify(await rowsOf(source.id));
  });
  const seen = lab.requests('long').length;
  const rows = await rowsOf(source.id);
  expect(rows['dead:cancelled']).toBeGreaterThan(10);
  expect(Object.keys(rows).sort()).toEqual(['dead:cancelled', 'fetched']);
  // A whole run of another job lies between this and the next look.
  const other = await lab.source('other');
  const next = await lab.job({ kind: 'crawl', source_id: other.id });
  expect((await lab.ended(next)).status).toBe('completed');
  expect(lab.requests('long')).toHaveLength(seen);
  const [execution] = await readExecutions(lab.database.pool, id);
  expect(execution).toMatchObject({ status: 'cancelled', error_message: 'enough', items_crawled: seen });
  expect((await readJob(lab.database.pool, id)).status).toBe('cancelled');
  const lines = await lab.lines(execution!.id);
  expect(lines.map((line) => line.id)).toEqual(lines.map((_, at) => at + 1));
  expect(lines.some((line) => line.message === 'cancelled by ann: enough')).toBe(true);
  expect(lines.filter((line) => line.category === 'fetch')).toHaveLength(seen);
  expect(await findSlotProblems(lab.database.pool)).toEqual([]);
  // Any producer may submit again what a run left.
  const left = await lab.database.pool.query<{ url: string }>(
    `SELECT url FROM url_frontier WHERE source_id = $1 AND error_code = 'cancelled' AND url LIKE '%/2024/%' LIMIT 1`,
    [source.id],
  );
  const [answer] = await submit(lab.database.pool, [
    {
      url: left.rows[0]!.url,
      kind: 'article',
      origin: 'spider',
      sourceId: source.id,
      priority: 5,
      own: true,
    },
  ]);
  expect(answer!.answer).toBe('raised');
  await waitUntil('it is fetched', () => lab.requests('long').length > seen);
});
