import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeSink, saveSink } from '../../src/outbox/index.ts';
import { createSource, saveRespectRobots, updateSource } from '../../src/sources/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import type { Outrider } from '../process/outrider.ts';
import { Lab, plain } from './lab.ts';

const agents = ['Outrider/one (+https://crawl.example/)', 'Outrider/two (+https://crawl.example/)'];
const silent = Array.from({ length: 8 }, (_, n) => `silent-${n}`);

const brief = '<!DOCTYPE html><title>Lamps</title><p>The lamps are on again since Tuesday.</p>';

let lab: Lab;
let fetcher: Outrider;

async function sourceOf(name: string): Promise<{ id: number; slug: string }> {
  const { source } = await createSource(lab.database.pool, { url: `http://${name}.test/` });
  return source;
}

beforeAll(async () => {
  lab = await Lab.open({
    publishers: [
      plain('proxied'),
      plain('slow'),
      plain('turns'),
      plain('closed-rules', [{ name: 'status', on: ['robots'], options: { status: 503 } }]),
      plain('crowded'),
      plain('agreed', [
        {
          name: 'fixed',
          on: ['robots'],
          options: { text: 'User-agent: *\nCrawl-delay: 1\nDisallow: /\n', type: 'text/plain' },
        },
      ]),
      plain('half-closed', [
        {
          name: 'fixed',
          on: ['robots'],
          options: { text: 'User-agent: *\nCrawl-delay: 20\nDisallow: /private/\n', type: 'text/plain' },
        },
      ]),
      plain('brief', [{ name: 'fixed', options: { text: brief } }]),
      ...silent.map((name) => plain(name, [{ name: 'stall' }])),
    ],
    env: {
      OUTRIDER_FETCH_USER_AGENTS: agents.join(','),
      OUTRIDER_DOCUMENTS_MAX_UNDELIVERED: '100',
      OUTRIDER_DOCUMENTS_MIN_BODY_BYTES: String(brief.length),
      OUTRIDER_FETCH_TIMEOUT_MS: '1500',
      OUTRIDER_FETCH_HEADERS_TIMEOUT_MS: '1000',
    },
  });
  const proxied = await sourceOf('proxied');
  // A port that nobody listens on: had the request gone out directly, it would have been answered.
  await updateSource(lab.database.pool, proxied.slug, { proxies: ['http://127.0.0.1:9'] }, 'test');
  await lab.ask(lab.article('proxied'), { sourceId: proxied.id });
  const slow = await sourceOf('slow');
  await updateSource(lab.database.pool, slow.slug, { rateLimitMs: 700 }, 'test');
  for (const nth of [0, 1, 2]) await lab.ask(lab.article('slow', nth), { sourceId: slow.id });
  for (const nth of [0, 1, 2]) await lab.ask(lab.article('turns', nth));
  for (const nth of [0, 1, 2]) await lab.ask(lab.article('closed-rules', nth));
  const agreed = await sourceOf('agreed');
  await saveRespectRobots(lab.database.pool, agreed.slug, false, { actor: 'test', reason: 'they agreed' });
  for (const nth of [0, 1, 2]) await lab.ask(lab.article('agreed', nth), { sourceId: agreed.id });
  await lab.ask('http://half-closed.test/private/drafts');
  await lab.ask(lab.article('brief'));
  fetcher = lab.start();
  await lab.idle();
}, 120_000);
afterAll(() => lab?.close());

test('a source’s proxies are used for its requests and no other’s', async () => {
  expect(lab.requests('proxied')).toEqual([]);
  // Nothing could be asked through it, robots.txt neither.
  expect(await lab.row(lab.article('proxied'))).toMatchObject({ documents: 0, code: expect.anything() });
  expect(lab.requests('turns').length).toBeGreaterThan(0);
});

test('a source’s own delay holds from its first request on, and is remembered', async () => {
  const times = lab.requests('slow').map((one) => one.startedAtMs);
  expect(times.length).toBe(4);
  for (const [index, time] of times.slice(1).entries())
    expect(time - times[index]!).toBeGreaterThanOrEqual(700);
  const slot = await lab.database.pool.query(
    `SELECT source_delay_ms FROM domain_slots JOIN domains USING (bucket, domain_key) WHERE name = 'slow.test'`,
  );
  expect(slot.rows).toEqual([{ source_delay_ms: 700 }]);
});

test('where an operator answers for what robots.txt forbids, its Crawl-delay holds all the same', async () => {
  const requests = lab.requests('agreed');
  expect(requests).toHaveLength(4);
  const times = requests.map((one) => one.startedAtMs);
  for (const [index, time] of times.slice(1).entries())
    expect(time - times[index]!).toBeGreaterThanOrEqual(1000);
  const slot = await lab.database.pool.query(
    `SELECT robots_delay_ms FROM domain_slots JOIN domains USING (bucket, domain_key) WHERE name = 'agreed.test'`,
  );
  expect(slot.rows).toEqual([{ robots_delay_ms: 1000 }]);
});

test('a robots.txt that forbids all that was wanted sets the pace as well', async () => {
  expect(await lab.row('http://half-closed.test/private/drafts')).toMatchObject({ code: 'robots_blocked' });
  const slot = await lab.database.pool.query(
    `SELECT robots_delay_ms, next_at - last_crawled_at >= interval '19 seconds' AS keeps
       FROM domain_slots JOIN domains USING (bucket, domain_key) WHERE name = 'half-closed.test'`,
  );
  expect(slot.rows).toEqual([{ robots_delay_ms: 20_000, keeps: true }]);
});

test('a page may be as short as the settings allow', async () => {
  expect(await lab.row(lab.article('brief'))).toMatchObject({ status: 'fetched', documents: 1 });
});

test('user agents take turns when there are several', () => {
  const seen = new Set(lab.requests('turns').map((one) => one.userAgent));
  for (const agent of seen) expect(agents).toContain(agent);
  expect(new Set(lab.web.log.read().map((one) => one.userAgent)).size).toBe(2);
});

test('a domain whose every URL waits for robots.txt rests until it may be asked again', async () => {
  const slot = await lab.database.pool.query<{ hold: string; left: number }>(
    `SELECT hold_reason AS hold, extract(epoch FROM next_at - now())::float8 AS left
       FROM domain_slots JOIN domains USING (bucket, domain_key) WHERE name = 'closed-rules.test'`,
  );
  expect(slot.rows[0]!.hold).toBe('robots');
  expect(slot.rows[0]!.left).toBeGreaterThan(60);
  expect(lab.requests('closed-rules')).toHaveLength(1);
});

test('fetching slows while sinks are far behind, and goes on when they are not', async () => {
  await saveSink(lab.database.pool, { name: 'somewhere', kind: 'test', enabled: true });
  await lab.database.pool.query(
    `INSERT INTO outbox (bucket, sink, domain_key, url_hash, version, enqueued_at)
     SELECT 0, 'somewhere', n, sha256(n::text::bytea), 1, now() FROM generate_series(1, 101) n`,
  );
  await waitUntil(
    'it says so',
    () => fetcher.stdout.includes('sinks are far behind') || fetcher.stderr.includes('sinks are far behind'),
  );
  await removeSink(lab.database.pool, 'somewhere');
  await lab.ask(lab.article('crowded'));
  await lab.idle();
  expect(await lab.row(lab.article('crowded'))).toMatchObject({ status: 'fetched' });
}, 90_000);

test('when nobody answers any more, it is our own network: no URL loses a try, no domain an error', async () => {
  for (const name of silent) {
    await lab.knowRobots(lab.article(name));
    await lab.ask(lab.article(name));
  }
  await waitUntil(
    'an outage is suspected',
    () =>
      fetcher.stdout.includes('our own network may be down') ||
      fetcher.stderr.includes('our own network may be down'),
  );
  const counted = await lab.database.pool.query<{ tries: number; errors: number }>(
    `SELECT sum(f.tries)::integer AS tries, sum(d.errors_total)::integer AS errors
       FROM url_frontier f JOIN domains d USING (bucket, domain_key) WHERE d.name LIKE 'silent-%'`,
  );
  expect(counted.rows[0]).toEqual({ tries: 0, errors: 0 });
  const logged = await lab.database.pool.query(`SELECT FROM crawl_log WHERE outcome = 'outage'`);
  expect(logged.rowCount).toBeGreaterThan(0);
}, 90_000);
