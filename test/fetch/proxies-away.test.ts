import { afterAll, beforeAll, expect, test } from 'vitest';
import { Lab, plain } from './lab.ts';

const names = ['away-1', 'away-2', 'away-3'];

let lab: Lab;
beforeAll(async () => {
  lab = await Lab.open({
    publishers: [...names, 'away-feed', 'away-robots'].map((name) => plain(name)),
    // Nobody listens at this port. One domain at a time, so that the first of them finds that out for all.
    env: { OUTRIDER_FETCH_PROXIES: 'http://127.0.0.1:1', OUTRIDER_FETCH_DOMAINS_AT_ONCE: '1' },
  });
  for (const name of names) {
    await lab.knowRobots(lab.article(name));
    await lab.ask(lab.article(name));
  }
  await lab.ask(lab.article('away-robots'));
  await lab.knowRobots(lab.address('away-feed', 'feed'));
  await lab.follow('away-feed', 'feed');
  lab.start();
  await lab.idle();
}, 120_000);
afterAll(() => lab?.close());

test('while all proxies rest, pages wait and keep their tries, and nobody is asked directly', async () => {
  const rows = await Promise.all(names.map((name) => lab.row(lab.article(name))));
  const waiting = rows.filter((row) => row?.code === 'no_proxy');
  expect(waiting.length).toBeGreaterThanOrEqual(2);
  for (const row of waiting) {
    expect(row).toMatchObject({ status: 'failed', tries: 0 });
    expect(row?.dueS).toBeGreaterThan(240);
  }
  expect(lab.web.log.read()).toEqual([]);
});

test('a feed that no proxy lets through is no feed that cannot be read', async () => {
  const { rows } = await lab.database.pool.query<{ error: string }>(
    `SELECT error_kind AS error FROM channel_state`,
  );
  expect(rows).toEqual([{ error: 'network' }]);
});

test('robots.txt is asked for again soon', async () => {
  expect(await lab.row(lab.article('away-robots'))).toMatchObject({
    status: 'pending',
    code: 'robots_unavailable',
    tries: 0,
  });
  const { rows } = await lab.database.pool.query<{ isSoon: boolean }>(
    `SELECT bool_and(expires_at < now() + interval '90 seconds') AS "isSoon" FROM robots WHERE outcome = 'unavailable'`,
  );
  expect(rows).toEqual([{ isSoon: true }]);
});
