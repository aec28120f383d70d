import { afterAll, beforeAll, expect, test } from 'vitest';
import { findPolitenessViolations } from '../web/index.ts';
import { Lab, plain } from './lab.ts';

const away = [
  {
    name: 'fixed',
    on: ['robots' as const],
    options: { status: 302, location: 'http://saver.test/robots.txt' },
  },
];
const inward = [
  {
    name: 'fixed',
    on: ['robots' as const],
    options: { status: 302, location: 'http://10.0.0.1/robots.txt' },
  },
];
const spenders = Array.from({ length: 10 }, (_, n) => `spender-${n}`);

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open({
    publishers: [
      plain('saver'),
      ...spenders.map((name) => plain(name, away)),
      plain('inward', inward),
      plain('counted', [{ name: 'cookie-check', on: ['robots', 'article'] }], {
        robots: { disallow: ['/'], allow: ['/about'], crawlDelayS: 0 },
      }),
      plain('part', [{ name: 'status', on: ['article'], options: { status: 206 } }]),
      plain('stubborn-feed', [{ name: 'unasked-304', on: ['feed'] }]),
      plain('stubborn-page', [{ name: 'unasked-304', on: ['article'] }]),
    ],
  });
  for (const name of ['saver', ...spenders, 'inward', 'counted', 'part', 'stubborn-page'])
    await lab.ask(lab.article(name));
  await lab.follow('stubborn-feed', 'feed');
  lab.start();
  await lab.idle();
}, 120_000);
afterAll(() => lab?.close());

test('a robots.txt that leads to another domain spends none of its pace', async () => {
  expect(findPolitenessViolations(lab.web.log.read(), { delayMs: () => 50 })).toEqual([]);
  const rows = await Promise.all(spenders.map((name) => lab.row(lab.article(name))));
  // Whoever came while it was busy waits for the next turn; nobody was let in without knowing the rules.
  for (const row of rows) expect(row?.status).toMatch(/^(pending|fetched)$/);
});

test('a robots.txt that leads inside is not readable, and nothing is requested', async () => {
  expect(await lab.row(lab.article('inward'))).toMatchObject({
    status: 'pending',
    code: 'robots_unavailable',
    documents: 0,
  });
});

test('a robots.txt behind a cookie is read, and holds', async () => {
  expect(await lab.row(lab.article('counted'))).toMatchObject({ status: 'dead', code: 'robots_blocked' });
  expect(lab.requests('counted').map(({ path, status }) => [path, status])).toEqual([
    ['/robots.txt', 302],
    ['/robots.txt', 200],
  ]);
});

test('a part of a page is no page', async () => {
  expect(await lab.row(lab.article('part'))).toMatchObject({
    status: 'failed',
    code: 'bad_response',
    documents: 0,
  });
});

test('"not modified" that nobody asked for is an error of a feed, and of a page asked once more', async () => {
  const feed = await lab.database.pool.query<{ error: string }>(
    `SELECT error_kind AS error FROM channel_state`,
  );
  expect(feed.rows).toEqual([{ error: 'http' }]);
  await lab.hurry(['stubborn-page.test']);
  await lab.idle();
  expect(await lab.row(lab.article('stubborn-page'))).toMatchObject({ status: 'dead', tries: 2 });
});
