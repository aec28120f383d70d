import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { submitFrontPage } from '../../src/channels/index.ts';
import { isLegalMove, type JobStatus } from '../../src/jobs/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { readEvents, readJob } from './fixtures.ts';
import { JobLab, linked } from './lab.ts';

let lab: JobLab;
beforeAll(async () => {
  lab = await JobLab.open([
    linked('crawl'),
    linked('nonce', { faults: [{ name: 'nonce' }] }),
    linked('few', { backlog: 30 }),
    linked('shallow'),
    linked('gone', { faults: [{ name: 'status', options: { status: 404 } }] }),
    // By its place among them it answers with validators.
    linked('refresh'),
    {
      ...linked('discover'),
      feeds: [
        {
          kind: 'rss',
          path: '/feed',
          advertised: true,
          full: false,
          tracking: false,
          origLink: false,
          relative: false,
          items: 6,
        },
      ],
    },
    linked('busy', {
      faults: [{ name: 'too-many', options: { retryAfter: '1' }, fromRequest: 2, untilRequest: 3 }],
    }),
    linked('feedonly'),
    linked('again'),
  ]);
  lab.engine = await lab.start();
});
afterAll(() => lab?.close());

const requestCount = (name: string): number => lab.requests(name).length;

describe('a crawl', () => {
  test('reads the site once, counts what the server saw, and logs every page without gaps', async () => {
    const source = await lab.source('crawl');
    const id = await lab.job({ kind: 'crawl', source_id: source.id });
    const run = await lab.ended(id);
    expect(run).toMatchObject({ status: 'completed', error_message: null, number: 1 });
    const articles = lab.web.groundTruth('crawl.test')[0]!.articles.length;
    expect(run.items_crawled).toBe(requestCount('crawl'));
    expect(run.items_indexed).toBe(articles);
    expect(run.metadata).toMatchObject({ found: articles, new: articles });
    const logged = await lab.database.pool.query<{ n: number }>(
      'SELECT count(*)::integer AS n FROM crawl_log WHERE execution_id = $1',
      [run.id.toString()],
    );
    expect(logged.rows[0]!.n).toBe(run.items_crawled);
    const lines = await lab.lines(run.id);
    expect(lines.map((line) => line.id)).toEqual(lines.map((_, at) => at + 1));
    expect(lines.filter((line) => line.category === 'fetch')).toHaveLength(run.items_crawled);
    expect(lines.filter((line) => line.category === 'extract')).toHaveLength(articles);
    expect(lines[0]).toMatchObject({ category: 'lifecycle' });
    expect(lines.at(-1)).toMatchObject({ category: 'lifecycle', message: 'completed' });
    expect(await readEvents(lab.database.pool, id)).toEqual([
      'pending>running lease',
      'running>completed complete',
    ]);
    await waitUntil('what it cost is known', async () => {
      const { cpu_ms, peak_memory_bytes } = (await lab.ended(id)) as {
        cpu_ms: bigint;
        peak_memory_bytes: bigint | null;
      };
      return cpu_ms > 0n && (peak_memory_bytes ?? 0n) > 1_000_000n;
    });
    const left = await lab.database.pool.query(
      'SELECT FROM execution_found UNION ALL SELECT FROM execution_reports',
    );
    expect(left.rowCount).toBe(0);
  });

  test('again fetches each listing once more and no article; what is new resets the interval, a nonce does not', async () => {
    const source = await lab.source('nonce');
    const id = await lab.job({ kind: 'crawl', source_id: source.id, interval_seconds: 3600 });
    const first = await lab.ended(id);
    expect(first.status).toBe('completed');
    // Guesses at second pages led nowhere and are not made again.
    const listings = new Set(
      (
        await lab.database.pool.query<{ url: string }>(
          `SELECT url FROM url_frontier WHERE source_id = $1 AND kind = 'listing' AND status = 'fetched'
              AND strpos(url, '?') = 0`,
          [source.id],
        )
      ).rows.map((row) => new URL(row.url).pathname + new URL(row.url).search),
    );
    const since = lab.web.log.nextSeq;
    await lab.dueAgain(id);
    const second = await lab.ended(id, 2);
    const again = lab.requests('nonce').filter((one) => one.seq >= since);
    expect(again.map((one) => one.path).sort()).toEqual([...listings].sort());
    expect(second).toMatchObject({ status: 'completed', items_crawled: listings.size, items_indexed: 0 });
    expect(second.metadata).toMatchObject({ new: 0 });
    expect(second.found_hash).toEqual(first.found_hash);
    expect(await readJob(lab.database.pool, id)).toMatchObject({ status: 'scheduled', unchanged_runs: 1 });
    lab.web.clock.advance(60_000);
    lab.web.publish('nonce.test', 1);
    await lab.dueAgain(id);
    const third = await lab.ended(id, 3);
    expect(third).toMatchObject({ status: 'completed', items_indexed: 1 });
    expect(third.metadata).toMatchObject({ new: 1 });
    expect((await readJob(lab.database.pool, id)).unchanged_runs).toBe(0);
  });

  test('ends with its pages; the next run goes on where it stopped', async () => {
    const source = await lab.source('few');
    const id = await lab.job({ kind: 'crawl', source_id: source.id, max_pages: 5, interval_seconds: 3600 });
    const run = await lab.ended(id);
    expect(run).toMatchObject({ status: 'completed', metadata: { limit: 'its 5 pages are used' } });
    expect(run.items_crawled).toBe(5);
    expect(requestCount('few')).toBe(5);
    const left = async () =>
      (
        await lab.database.pool.query<{ status: string; code: string | null; n: number }>(
          `SELECT status, error_code AS code, count(*)::integer AS n FROM url_frontier WHERE source_id = $1 GROUP BY 1, 2 ORDER BY 1`,
          [source.id],
        )
      ).rows;
    await waitUntil('its rows are let go', async () => {
      const rows = await left();
      return rows.every((row) => row.status !== 'pending') || JSON.stringify(rows);
    });
    expect((await left()).find((row) => row.status === 'dead')).toMatchObject({ code: 'run_ended' });
    await lab.database.pool.query('UPDATE jobs SET max_pages = NULL WHERE id = $1', [id]);
    await lab.dueAgain(id);
    const next = await lab.ended(id, 2);
    expect(next.status).toBe('completed');
    expect((await left()).some((row) => row.code === 'run_ended')).toBe(false);
    expect(next.items_crawled + 5).toBe(requestCount('few'));
  });

  test('that used its pages keeps nobody from asking for them again', async () => {
    const source = await lab.source('again');
    const id = await lab.job({ kind: 'crawl', source_id: source.id, max_pages: 1 });
    expect(await lab.ended(id)).toMatchObject({ status: 'completed', items_crawled: 1 });
    await waitUntil('its rows are let go', async () => {
      const left = await lab.database.pool.query(
        'SELECT id FROM job_executions WHERE job_id = $1 AND sweep IS NOT NULL',
        [id],
      );
      return left.rowCount === 0;
    });
    const frontPage = () => lab.requests('again').filter(({ path }) => path === '/').length;
    expect(frontPage()).toBe(1);
    await submitFrontPage(lab.database.pool, source);
    await waitUntil('the front page is read again', () => frontPage() === 2);
  });

  test('goes as deep as it is told, whatever the mode of its source', async () => {
    const source = await lab.source('shallow', 'feed');
    const id = await lab.job({ kind: 'crawl', source_id: source.id, max_depth: 1 });
    expect((await lab.ended(id)).status).toBe('completed');
    const depths = await lab.database.pool.query<{ depth: number }>(
      'SELECT max(depth) AS depth FROM url_frontier WHERE source_id = $1',
      [source.id],
    );
    expect(depths.rows[0]!.depth).toBe(1);
  });

  test('that sees no page has failed, says why, and is tried again', async () => {
    const source = await lab.source('gone');
    const id = await lab.job({ kind: 'crawl', source_id: source.id });
    const run = await lab.ended(id);
    expect(run.status).toBe('failed');
    expect(run.error_message).toContain('http://gone.test/');
    expect(await readEvents(lab.database.pool, id)).toEqual([
      'pending>running lease',
      'running>scheduled retry',
    ]);
    await lab.dueAgain(id);
    expect(await lab.ended(id, 2)).toMatchObject({ status: 'failed', retry_attempt: 1, trigger: 'retry' });
  });

  test('logs that it is asked to slow down', async () => {
    const source = await lab.source('busy');
    const id = await lab.job({ kind: 'crawl', source_id: source.id });
    const run = await lab.ended(id);
    const lines = await lab.lines(run.id);
    expect(lines.some((line) => line.category === 'rate_limit' && line.message.includes('slow down'))).toBe(
      true,
    );
    expect(run.metadata.outcomes).toMatchObject({ http_429: 1 });
  });
});

test('a refresh asks known articles whether they have changed', async () => {
  const source = await lab.source('refresh');
  const crawl = await lab.job({ kind: 'crawl', source_id: source.id });
  const { items_indexed } = await lab.ended(crawl);
  const since = lab.web.log.nextSeq;
  const id = await lab.job({ kind: 'refresh', source_id: source.id });
  const run = await lab.ended(id);
  const asked = lab.requests('refresh').filter((one) => one.seq >= since);
  expect(asked).toHaveLength(items_indexed);
  expect(asked.every((one) => one.conditional && one.status === 304)).toBe(true);
  expect(run).toMatchObject({ status: 'completed', items_crawled: items_indexed, items_indexed: 0 });
  const some = await lab.job({ kind: 'refresh', source_id: source.id, max_pages: 2 });
  expect((await lab.ended(some)).items_crawled).toBe(2);
});

test('a search finds channels', async () => {
  const source = await lab.source('discover', 'feed');
  const id = await lab.job({ kind: 'discover', source_id: source.id });
  expect((await lab.ended(id)).status).toBe('completed');
  const channels = await lab.database.pool.query<{ url: string }>(
    'SELECT url FROM channels WHERE source_id = $1',
    [source.id],
  );
  expect(channels.rows).toEqual([{ url: 'http://discover.test/feed' }]);
});

test('a recalculation puts right what is wrong', async () => {
  await waitUntil('nothing is leased', async () => {
    const leased = await lab.database.pool.query('SELECT FROM domain_slots WHERE lease_owner IS NOT NULL');
    return leased.rowCount === 0;
  });
  await lab.database.pool.query(`UPDATE domains SET pages_known = pages_known + 7 WHERE name = 'crawl.test'`);
  const id = await lab.job({ kind: 'recalculate' });
  const run = await lab.ended(id);
  expect(run).toMatchObject({ status: 'completed', metadata: { repaired: 1 } });
});

test('a pruning deletes what is past its time, executions too', async () => {
  const old = await lab.job({ kind: 'recalculate' });
  await lab.ended(old);
  await lab.database.pool.query(
    `UPDATE job_executions SET started_at = started_at - interval '31 days' WHERE job_id = $1`,
    [old],
  );
  const id = await lab.job({ kind: 'prune' });
  expect(await lab.ended(id)).toMatchObject({ status: 'completed', metadata: { executions: 1 } });
});

test('an import follows the sources of its list', async () => {
  const text = 'http://one.example/\nhttp://two.example/\nnot an address at all\n';
  const id = await lab.job({ kind: 'import', metadata: JSON.stringify({ format: 'lines', text }) });
  const run = await lab.ended(id);
  expect(run).toMatchObject({ status: 'completed', metadata: { added: 2, bad: 1 } });
  const bad = await lab.job({ kind: 'import', max_retries: 0, metadata: '{}' });
  const failed = await lab.ended(bad);
  expect(failed).toMatchObject({
    status: 'failed',
    error_message: 'an import job needs its list in metadata.text',
  });
  expect(failed.error_stack).toContain('checkImportList');
  expect((await readJob(lab.database.pool, bad)).status).toBe('failed');
});

test('every move that was made is one of the table', async () => {
  const moves = await lab.database.pool.query<{ from: JobStatus; to: JobStatus }>(
    'SELECT DISTINCT from_status AS "from", to_status AS "to" FROM job_events WHERE from_status IS NOT NULL',
  );
  expect(moves.rows.length).toBeGreaterThan(3);
  expect(moves.rows.filter(({ from, to }) => !isLegalMove(from, to))).toEqual([]);
});
