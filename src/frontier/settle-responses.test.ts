import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/setup/database.ts';
import { type Lease, lease, type SettleResponse, settle, submit } from './index.ts';

let test: TestDatabase;
let held: Lease;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());
beforeEach(async () => {
  await test.pool.query(
    'TRUNCATE url_frontier, domain_slots, domains, outbox_responses, response_marks, crawl_log, documents, outbox',
  );
  await test.pool.query(
    `DELETE FROM sinks WHERE name <> 'index';
     INSERT INTO sinks (name, kind, takes) VALUES ('one', 'warc', 'responses'), ('papers', 'files', 'documents')`,
  );
  const item = { kind: 'article', origin: 'feed', sourceId: 1, priority: 5, own: true } as const;
  await submit(test.pool, [{ ...item, url: 'https://a.example/held' }]);
  const options = { owner: 'w', pool: 'default', slots: 1, leaseMs: 60_000, defaultDelayMs: 0, batch: 1 };
  held = (await lease(test.pool, options))[0]!;
});

const page = 'https://a.example/page';
const none = { etag: null, lastModified: null };

function responseOf(text: string, change: Partial<SettleResponse> = {}): SettleResponse {
  const body = Buffer.from(text);
  return {
    id: randomUUID(),
    startedAt: 400,
    status: 200,
    method: 'GET',
    url: page,
    address: '192.0.2.1',
    truncated: null,
    requestHead: Buffer.from('GET /page HTTP/1.1\r\n\r\n'),
    responseHead: Buffer.from('HTTP/1.1 200 OK\r\n\r\n'),
    body,
    digest: createHash('sha256').update(body).digest(),
    validators: none,
    sent: none,
    ...change,
  };
}
const notModified = (sent: Partial<SettleResponse['sent']>, change: Partial<SettleResponse> = {}) =>
  responseOf('', { status: 304, sent: { ...none, ...sent }, ...change });

const give = (responses: readonly SettleResponse[], owner = 'w') =>
  settle(test.pool, held, {
    owner,
    final: false,
    items: [],
    documents: [],
    requests: [],
    responses,
    monotonicMs: 1000,
    lastAnswerAt: 1000,
    defaultDelayMs: 0,
  });

type Row = {
  id: string;
  sink: string;
  revisit: string | null;
  refers_to: string | null;
  same_moment: boolean | null;
  payload_digest: Buffer | null;
  request_head: Buffer;
  response_head: Buffer;
  body: Buffer | null;
  bytes: number;
  truncated: string | null;
};
async function rows(): Promise<Map<string, Row>> {
  const result = await test.pool.query<Row>(
    `SELECT r.*, r.refers_to_at = o.at AS same_moment FROM outbox_responses r
       LEFT JOIN outbox_responses o ON o.bucket = r.bucket AND o.sink = r.sink AND o.id = r.refers_to
      ORDER BY r.enqueued_at`,
  );
  return new Map(result.rows.map((row) => [row.id, row]));
}

it('keeps every response with its heads and body, for the sinks that take them', async () => {
  const given = [
    responseOf('one'),
    responseOf('two', { url: 'https://a.example/two', truncated: 'time', address: null }),
    responseOf('', { url: 'https://a.example/three', status: 404 }),
  ];
  expect(await give(given)).toMatchObject({ outcome: 'settled' });
  const kept = await rows();
  for (const one of given)
    expect(kept.get(one.id)).toMatchObject({
      sink: 'one',
      request_head: one.requestHead,
      response_head: one.responseHead,
      body: one.body,
      payload_digest: one.digest,
      truncated: one.truncated,
      revisit: null,
      bytes: one.requestHead.length + one.responseHead.length + one.body.length,
    });
  expect(kept.size).toBe(given.length);
  const [{ age }] = (
    await test.pool.query<{ age: number }>(
      'SELECT extract(epoch FROM enqueued_at - at)::float8 AS age FROM outbox_responses LIMIT 1',
    )
  ).rows as [{ age: number }];
  expect(age).toBeGreaterThanOrEqual(0.6);
  expect(age).toBeLessThan(0.602);
});

it('keeps what a worker without a lease got', async () => {
  const one = responseOf('late');
  expect(await give([one], 'another')).toMatchObject({ outcome: 'stale' });
  expect((await rows()).has(one.id)).toBe(true);
});

it('keeps nothing while nobody takes responses', async () => {
  await test.pool.query(`UPDATE sinks SET enabled = false WHERE name = 'one'`);
  await give([responseOf('one')]);
  expect((await rows()).size).toBe(0);
});

it('is not moved by a settle that is repeated because its answer was lost', async () => {
  const one = responseOf('one');
  await give([one]);
  await give([one]);
  expect((await rows()).size).toBe(1);
  // Delivered meanwhile.
  await test.pool.query('DELETE FROM outbox_responses');
  await give([one]);
  expect((await rows()).size).toBe(0);
});

describe('a payload that was kept before', () => {
  it('is not kept again, and later ones refer to the first', async () => {
    const [first, second, third] = [responseOf('same'), responseOf('same'), responseOf('same')];
    for (const one of [first, second, third]) await give([one]);
    const kept = await rows();
    expect(kept.get(first.id)!.revisit).toBeNull();
    for (const { id } of [second, third])
      expect(kept.get(id)).toMatchObject({
        revisit: 'identical-payload-digest',
        refers_to: first.id,
        same_moment: true,
        payload_digest: first.digest,
        body: null,
      });
  });

  it('is kept again after another one, at another address, and for another sink', async () => {
    const all = [
      responseOf('a'),
      responseOf('b'),
      responseOf('a'),
      responseOf('a', { url: 'https://a.example/other' }),
    ];
    for (const one of all) await give([one]);
    for (const one of all)
      expect((await rows()).get(one.id)).toMatchObject({ revisit: null, body: one.body });
    await test.pool.query(`INSERT INTO sinks (name, kind, takes) VALUES ('two', 'warc', 'responses')`);
    const last = responseOf('a');
    await give([last]);
    const both = await test.pool.query<{ sink: string; revisit: string | null }>(
      'SELECT sink, revisit FROM outbox_responses WHERE id = $1 ORDER BY sink',
      [last.id],
    );
    expect(both.rows).toEqual([
      { sink: 'one', revisit: 'identical-payload-digest' },
      { sink: 'two', revisit: null },
    ]);
  });

  it('counts only when it was whole, a success and something', async () => {
    for (const change of [{ truncated: 'length' }, { status: 500 }] as const) {
      await give([responseOf('x', change)]);
      const next = responseOf('x', change);
      await give([next]);
      expect((await rows()).get(next.id)!.revisit).toBeNull();
    }
    await give([responseOf('')]);
    const empty = responseOf('');
    await give([empty]);
    expect((await rows()).get(empty.id)!.revisit).toBeNull();
  });

  it('may come twice in one settle', async () => {
    const [one, two] = [responseOf('same'), responseOf('same', { startedAt: 500 })];
    await give([one, two]);
    expect((await rows()).size).toBe(2);
    const next = responseOf('same');
    await give([next]);
    expect((await rows()).get(next.id)!.refers_to).toBe(two.id);
  });
});

describe('a 304', () => {
  const first = (change: Partial<SettleResponse> = {}) =>
    responseOf('text', { validators: { etag: '"1"', lastModified: 'Mon' }, ...change });

  it('refers to the response whose validators it was asked with', async () => {
    const one = first();
    await give([one]);
    const byTag = notModified({ etag: '"1"', lastModified: 'Mon' });
    const byDate = notModified({ lastModified: 'Mon' });
    await give([byTag]);
    await give([byDate]);
    const kept = await rows();
    for (const { id } of [byTag, byDate])
      expect(kept.get(id)).toMatchObject({
        revisit: 'server-not-modified',
        refers_to: one.id,
        same_moment: true,
        payload_digest: one.digest,
        body: null,
      });
  });

  it('refers to nothing where what it speaks of was never kept', async () => {
    const lonely = notModified({ etag: '"1"' });
    await give([lonely]);
    await give([first()]);
    // The newer one came while the sink was paused.
    const other = notModified({ etag: '"2"' });
    await give([other]);
    const unasked = notModified({});
    await give([unasked]);
    const kept = await rows();
    for (const { id } of [lonely, other, unasked])
      expect(kept.get(id)).toMatchObject({
        revisit: 'server-not-modified',
        refers_to: null,
        payload_digest: null,
      });
  });

  it('may bring new validators for the same thing', async () => {
    const one = first();
    await give([one]);
    await give([notModified({ etag: '"1"' }, { validators: { etag: '"1b"', lastModified: null } })]);
    const next = notModified({ etag: '"1b"' });
    await give([next]);
    expect((await rows()).get(next.id)!.refers_to).toBe(one.id);
    const byDate = notModified({ lastModified: 'Mon' });
    await give([byDate]);
    expect((await rows()).get(byDate.id)!.refers_to).toBe(one.id);
  });
});
