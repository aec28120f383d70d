import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  askReplay,
  claimDeliveries,
  enableSink,
  leaseSink,
  listDeadLetters,
  listReplays,
  listSinks,
  releaseSink,
  retryDeadLetters,
  runReplays,
  saveSink,
} from '../../src/outbox/index.ts';
import type { Deliverer, Sink } from '../../src/sinks/index.ts';
import { systemClock } from '../../src/telemetry/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { delivererOf as makeDeliverer } from './deliver.ts';
import { idOf, storeDocuments, textOf } from './store.ts';
import type { SinkWorld } from './world.ts';

/** What every sink must do, whatever is behind it. */
export function testSink(name: string, start: () => Promise<SinkWorld>): void {
  let database: TestDatabase;
  let world: SinkWorld;
  const never = new AbortController().signal;
  const hosts = Array.from({ length: 7 }, (_, n) => `https://publisher-${n}.example`);
  const refuseAll = async (batch: readonly unknown[]) => ({
    ends: batch.map(() => ({ end: 'rejected' as const, reason: 'not today' })),
  });
  const urlsOf = (round: string, each = 3) =>
    hosts.flatMap((host) => Array.from({ length: each }, (_, n) => `${host}/${name}/${round}/${n}`));

  const delivererOf = (sink: Sink, owner?: string) => makeDeliverer(database, sink, owner);
  /** Turns until there is nothing to do, as the loop would. */
  const drain = async (deliverer: Deliverer): Promise<void> => {
    for (let n = 0; n < 200 && (await deliverer.turn(never)) === 'busy'; n += 1);
  };
  const run = async (): Promise<void> => {
    const deliverer = delivererOf(world.sink);
    await drain(deliverer);
    await deliverer.stop();
  };
  const state = async () => (await listSinks(database.pool)).find((one) => one.name === world.sink.name)!;
  /** As if the time until the next try had passed. */
  const elapse = () =>
    database.pool.query(
      'WITH s AS (UPDATE sink_states SET retry_at = NULL) UPDATE outbox SET retry_at = NULL',
    );
  const expectThere = async (urls: readonly string[], edition = 1): Promise<void> => {
    const there = await world.received();
    for (const url of urls)
      expect(there.get(idOf(url)), url).toMatchObject({ text: textOf(url, edition), times: 1 });
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    world = await start();
    await saveSink(database.pool, world.sink);
  });
  afterAll(async () => {
    await world?.close();
    await database?.drop();
  });
  beforeEach(async () => {
    await database.pool.query(
      'TRUNCATE outbox, dead_letters, documents, document_versions, url_frontier, domain_slots, domains',
    );
    await database.pool.query(
      `UPDATE sink_states SET lease_owner = NULL, lease_until = NULL, retry_at = NULL, failing_since = NULL, failures = 0, error = NULL`,
    );
  });

  test('every document arrives, once', async () => {
    const urls = urlsOf('first');
    await storeDocuments(
      database.pool,
      urls.map((url) => ({ url })),
    );
    expect((await state()).waiting).toBe(urls.length);
    await run();
    await expectThere(urls);
    expect(await state()).toMatchObject({ waiting: 0, deadLetters: 0, failingSince: null, deliverer: null });
  });

  test('a page that changes is delivered anew, and a page that does not is not', async () => {
    const urls = urlsOf('changing', 1);
    const given = urls.map((url) => ({ url, pageType: 'other' as const }));
    await storeDocuments(database.pool, given);
    await run();
    await storeDocuments(database.pool, given);
    expect((await state()).waiting).toBe(0);
    await storeDocuments(
      database.pool,
      given.map((one) => ({ ...one, text: textOf(one.url, 2) })),
    );
    await run();
    await expectThere(urls, 2);
  });

  test('stubs are delivered nowhere', async () => {
    await storeDocuments(database.pool, [{ url: `${hosts[0]}/${name}/stub`, pageType: 'stub' }]);
    expect((await state()).waiting).toBe(0);
  });

  test('a deliverer that dies after delivering and before saying so doubles nothing', async () => {
    const urls = urlsOf('dying');
    await storeDocuments(
      database.pool,
      urls.map((url) => ({ url })),
    );
    // The first life: leased, opened, delivered, and gone.
    const { sink } = world;
    const held = (await leaseSink(database.pool, sink.name, 'dead', 60_000))!;
    expect(await sink.open(held.position, never)).toBeNull();
    const { items, bytes, withRaw } = sink.batch;
    const batch = await claimDeliveries(database.pool, {
      sink: sink.name,
      most: Math.min(items, 8),
      mostBytes: bytes,
      withRaw,
      fromBucket: 0,
    });
    const { ends } = await sink.deliver(batch, never);
    expect(ends.every(({ end }) => end === 'delivered')).toBe(true);
    await sink.close();
    // The second: it may begin when the lease of the first is over.
    const next = delivererOf(world.again(), 'next');
    expect(await next.turn(never)).toBe('idle');
    expect((await state()).waiting).toBe(urls.length);
    await database.pool.query(
      `UPDATE sink_states SET lease_until = now() - interval '1 second' WHERE lease_until IS NOT NULL`,
    );
    await drain(next);
    await next.stop();
    await expectThere(urls);
    expect((await state()).waiting).toBe(0);
    // Whatever the dead one still says is not heard.
    await releaseSink(database.pool, held);
  });

  test('two deliverers never work at once, and a late one changes nothing', async () => {
    const urls = urlsOf('rivals');
    await storeDocuments(
      database.pool,
      urls.map((url) => ({ url })),
    );
    const late = delivererOf(
      {
        ...world.sink,
        deliver: async (batch, signal) => {
          const end = await world.sink.deliver(batch, signal);
          // Frozen for longer than its lease; another takes over meanwhile.
          await database.pool.query(
            `UPDATE sink_states SET lease_until = now() - interval '1 second' WHERE lease_until IS NOT NULL`,
          );
          expect(await leaseSink(database.pool, world.sink.name, 'rival', 60_000)).not.toBeNull();
          return end;
        },
      },
      'late',
    );
    expect(await late.turn(never)).toBe('idle');
    expect((await state()).waiting).toBe(urls.length);
    await late.stop();
    expect((await state()).deliverer).toBe('rival');
    await database.pool.query(
      `UPDATE sink_states SET lease_until = now() - interval '1 second' WHERE lease_until IS NOT NULL`,
    );
    await run();
    await expectThere(urls);
  });

  test('while it is down everything waits, and nothing is lost', async () => {
    const urls = urlsOf('down');
    await storeDocuments(
      database.pool,
      urls.map((url) => ({ url })),
    );
    await world.break();
    try {
      await run();
      const down = await state();
      expect(down).toMatchObject({ waiting: urls.length, deadLetters: 0 });
      expect(down.error).not.toBeNull();
      expect(down.failingSince).not.toBeNull();
      expect(down.retryAt!.getTime()).toBeGreaterThan(down.failingSince!.getTime());
      // It rests: nobody knocks again at once.
      await run();
      expect(await state()).toEqual(down);
      const attempts = await database.pool.query('SELECT sum(attempts)::integer AS n FROM outbox');
      expect(attempts.rows[0]!.n).toBe(0);
    } finally {
      await world.mend();
    }
    await elapse();
    await run();
    await expectThere(urls);
    expect(await state()).toMatchObject({ waiting: 0, error: null, failingSince: null });
  });

  test('what it refuses is a dead letter with the reason, holds up nobody and can be tried again', async (context) => {
    if (world.refuse === undefined) return context.skip('it refuses nothing');
    const urls = urlsOf('refused');
    const bad = urls.slice(0, 2);
    await storeDocuments(
      database.pool,
      urls.map((url) => (bad.includes(url) ? { url, title: 'a forbidden word' } : { url })),
    );
    world.refuse('forbidden');
    await run();
    await expectThere(urls.slice(2));
    expect(await state()).toMatchObject({ waiting: 0, deadLetters: 2, failingSince: null });
    const letters = await listDeadLetters(database.pool, { sink: world.sink.name, limit: 10 });
    expect(letters.map((letter) => letter.url).sort()).toEqual([...bad].sort());
    for (const letter of letters) expect(letter.error).toMatch(/forbidden/);
    world.refuse(null);
    expect(await retryDeadLetters(database.pool, world.sink.name)).toBe(2);
    await run();
    await expectThere(urls);
    expect(await state()).toMatchObject({ waiting: 0, deadLetters: 0 });
  });

  test('a replay gives everything again and doubles nothing', async () => {
    const urls = urlsOf('replayed');
    await storeDocuments(
      database.pool,
      urls.map((url) => ({ url })),
    );
    await run();
    expect(await askReplay(database.pool, { sink: world.sink.name })).toBe('asked');
    expect(await askReplay(database.pool, { sink: world.sink.name })).toBe('under_way');
    let looked = 0;
    for (let n = 1; n > 0; looked += n) n = await runReplays(database.db, 5);
    expect(looked).toBe(urls.length);
    expect(await listReplays(database.pool)).toEqual([]);
    expect((await state()).waiting).toBe(urls.length);
    await run();
    const there = await world.received();
    for (const url of urls) expect(there.get(idOf(url))).toMatchObject({ text: textOf(url) });
    expect((await state()).waiting).toBe(0);
  });

  test('what it has in the end is no dead letter any more', async () => {
    const [replayed, renewed] = [`${hosts[4]}/${name}/replayed`, `${hosts[4]}/${name}/renewed`];
    const given = [replayed, renewed].map((url) => ({ url, pageType: 'other' as const }));
    await storeDocuments(database.pool, given);
    const refuse = { ...world.sink, deliver: refuseAll };
    const deliverer = delivererOf(refuse);
    await drain(deliverer);
    await deliverer.stop();
    expect(await state()).toMatchObject({ waiting: 0, deadLetters: 2 });
    // As the advice on a changed mapping says: mend it there, and replay.
    await askReplay(database.pool, { sink: world.sink.name });
    for (let n = 1; n > 0; ) n = await runReplays(database.db, 100);
    await storeDocuments(database.pool, [{ ...given[1]!, text: textOf(renewed, 2) }]);
    await run();
    await expectThere([replayed]);
    expect((await world.received()).get(idOf(renewed))).toMatchObject({ text: textOf(renewed, 2) });
    expect(await state()).toMatchObject({ waiting: 0, deadLetters: 0 });
  });

  test('a paused sink is left alone, and what comes meanwhile is not kept for it', async () => {
    expect(await enableSink(database.pool, world.sink.name, false)).toBe(true);
    const missed = `${hosts[1]}/${name}/missed`;
    await storeDocuments(database.pool, [{ url: missed }]);
    expect((await state()).waiting).toBe(0);
    await enableSink(database.pool, world.sink.name, true);
    const later = `${hosts[1]}/${name}/later`;
    await storeDocuments(database.pool, [{ url: later }]);
    await run();
    await expectThere([later]);
    expect((await world.received()).has(idOf(missed))).toBe(false);
  });

  test('a pause is noticed at once, also by who delivers to it just now', async () => {
    const deliverer = delivererOf(world.sink);
    await drain(deliverer);
    const url = `${hosts[2]}/${name}/paused-over`;
    await storeDocuments(database.pool, [{ url }]);
    await enableSink(database.pool, world.sink.name, false);
    expect(await deliverer.turn(never)).toBe('idle');
    expect((await state()).waiting).toBe(1);
    expect((await world.received()).has(idOf(url))).toBe(false);
    await enableSink(database.pool, world.sink.name, true);
    await drain(deliverer);
    await deliverer.stop();
    await expectThere([url]);
  });

  test('a sink that was paused goes on as soon as it is let go on', async () => {
    let aheadMs = 0;
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
    const deliverer = makeDeliverer(database, world.sink, 'one', clock);
    const url = `${hosts[3]}/${name}/let-go-on`;
    await drain(deliverer);
    await storeDocuments(database.pool, [{ url }]);
    await enableSink(database.pool, world.sink.name, false);
    // Long enough for the lease to be renewed, and for it to be found that it may not.
    aheadMs = 20_000;
    expect(await deliverer.turn(never)).toBe('idle');
    expect((await state()).deliverer).toBeNull();
    await enableSink(database.pool, world.sink.name, true);
    await drain(deliverer);
    await deliverer.stop();
    await expectThere([url]);
  });
}
