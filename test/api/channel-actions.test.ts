import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createChannel } from '../../src/channels/index.ts';
import { findSlotProblems } from '../../src/frontier/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { createChecked, hostileValues } from './checked.ts';
import { type ApiLab, startApiLab } from './lab.ts';

// Six channels that fail and rest for two days, one that is well.
let lab: ApiLab;
let ask: ApiLab['ask'];
beforeAll(async () => {
  lab = await startApiLab();
  ask = await createChecked(lab);
  const { pool } = lab.database;
  for (const name of ['one', 'two', 'off', 'links']) {
    const { source } = await createSource(pool, { url: `https://${name}.example/`, name });
    for (const path of name === 'one' ? ['a', 'b', 'well'] : ['a'])
      await createChannel(pool, {
        sourceId: source.id,
        kind: 'feed',
        url: `https://${name}.example/${path}`,
        intervalSeconds: 900,
        foundBy: 'manual',
      });
  }
  const { body } = await ask('POST', '/api/v1/channels', {
    source: 'two',
    url: 'https://two.example/disabled',
  });
  await ask('POST', `/api/v1/channels/${body.id}/disable`);
  await ask('PATCH', '/api/v1/sources/links', { ingestionMode: 'spider' });
  await ask('POST', '/api/v1/sources/off/disable', { reason: 'a rest' });
});
beforeEach(async () => {
  const { pool } = lab.database;
  await pool.query(
    `INSERT INTO channel_state (bucket, channel_id, polls, errors_in_row, error_kind, failing_since, slept_at, sleep_reason)
     SELECT bucket, id, 9, 1 + id % 2, '404', now(), now(), '404' FROM channels WHERE url NOT LIKE '%/well'
     ON CONFLICT (bucket, channel_id) DO UPDATE SET errors_in_row = excluded.errors_in_row, error_kind = '404', slept_at = now(),
       sleep_reason = '404', failing_since = now()`,
  );
  await pool.query(
    `UPDATE url_frontier f SET ready = false, tries = 3, due_at = now() + interval '2 days' FROM channels c
      WHERE c.url_hash = f.url_hash AND c.url ~ '^https://(one|two).example'`,
  );
  // Early enough for every row, the front page of the source that is read by its links too.
  await pool.query(
    `UPDATE domain_slots SET queued = 0, budgeted = 0, top = NULL, wake_at = now() - interval '1 hour'`,
  );
  await pool.query('UPDATE url_frontier SET ready = false');
  await pool.query('DELETE FROM audit');
});
afterAll(async () => {
  expect(await findSlotProblems(lab.database.pool)).toEqual([]);
  await lab.close();
});

const act = (body: object) => ask('POST', '/api/v1/channels/actions', body);
const failing = { state: 'failing' };
const due = async (): Promise<string[]> => {
  const { rows } = await lab.database.pool.query<{ url: string }>(
    `SELECT url FROM url_frontier WHERE kind = 'channel' AND due_at <= now() ORDER BY url`,
  );
  return rows.map((row) => row.url);
};
const errors = async (): Promise<number> =>
  (await lab.database.pool.query('SELECT FROM channel_state WHERE errors_in_row > 0')).rowCount ?? 0;
const allOutcomes = {
  polled: 3,
  'refused:disabled': 1,
  'refused:source_disabled': 1,
  'refused:links_only': 1,
};

test('a dry run tells what would be done and changes nothing', async () => {
  const { status, body } = await act({ action: 'poll', filter: failing, dryRun: true });
  expect(status).toBe(200);
  expect(body).toEqual({
    dryRun: true,
    matched: 6,
    outcomes: allOutcomes,
    total: { count: 6, exact: true },
    cursor: null,
  });
  expect(await due()).toEqual([]);
  expect((await lab.database.pool.query('SELECT FROM audit')).rowCount).toBe(0);
});

test('those that fail are polled, portion by portion, and what may not be polled is left alone', async () => {
  const outcomes: Record<string, number> = {};
  let [matched, portions] = [0, 0];
  for (let cursor: string | undefined | null; cursor !== null; portions += 1) {
    const { body } = await act({ action: 'poll', filter: failing, limit: 2, cursor });
    matched += body.matched;
    for (const [outcome, count] of Object.entries(body.outcomes as Record<string, number>))
      outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
    cursor = body.cursor;
  }
  expect({ matched, outcomes }).toEqual({ matched: 6, outcomes: allOutcomes });
  expect(portions).toBe(4);
  expect(await due()).toEqual(['https://one.example/a', 'https://one.example/b', 'https://two.example/a']);
  expect(await errors()).toBe(6);
  const { rows } = await lab.database.pool.query(
    `SELECT actor, detail FROM audit WHERE action = 'channels_poll' ORDER BY id`,
  );
  expect(rows).toHaveLength(3);
  expect(rows[0]).toMatchObject({ actor: 'token:test admin', detail: { filter: failing } });
});

test('reset forgets their errors as well, of one source where one is named', async () => {
  const { body } = await act({ action: 'reset', filter: { ...failing, source: 'one', kind: 'feed' } });
  expect(body).toMatchObject({ matched: 2, outcomes: { reset: 2 }, total: { count: 2, exact: true } });
  expect(await due()).toEqual(['https://one.example/a', 'https://one.example/b']);
  expect(await errors()).toBe(4);
  expect((await act({ action: 'reset', filter: { ...failing, source: 'one' } })).body.matched).toBe(0);
  expect((await act({ action: 'poll', filter: { ...failing, kind: 'sitemap' } })).body.matched).toBe(0);
});

test('anything else is refused', async () => {
  expect((await act({ action: 'poll', filter: { ...failing, source: 'nobody' } })).status).toBe(404);
  for (const body of [
    { action: 'poll' },
    { action: 'poll', filter: {} },
    { action: 'remove', filter: failing },
    { action: 'poll', filter: { state: 'well' } },
    { action: 'poll', filter: failing, limit: 0 },
    { action: 'poll', filter: failing, cursor: 'x' },
    { action: 'poll', filter: failing, more: true },
  ])
    expect((await act(body)).status, JSON.stringify(body)).toBe(400);
  for (const value of hostileValues) {
    expect((await act({ action: value, filter: failing })).status).toBe(400);
    expect((await act({ action: 'poll', filter: { state: value } })).status).toBe(400);
  }
  const asReader = await lab.ask(
    'POST',
    '/api/v1/channels/actions',
    { action: 'poll', filter: failing },
    'read',
  );
  expect(asReader.status).toBe(403);
});
