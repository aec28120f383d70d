import { lease, saveWorker, submit } from '../../src/frontier/index.ts';
import { saveSink } from '../../src/outbox/index.ts';
import type { TestDatabase } from '../setup/database.ts';
import { storeDocuments } from '../sinks/store.ts';

/** A page's text that no layout may break on. */
export const longError = `the receiver answered 422: {"error":"${'section-too-long'.repeat(12)}"}`;

const loop = { intervalMs: 500, turns: 900, errorsInRow: 0, lastError: null };

const dead = 'south-13-cccc';
const wish = (url: string) =>
  ({ url, kind: 'article', origin: 'manual', priority: 5, own: true, sourceId: null }) as const;

/** Makes an engine with troubles of every kind: a silent process, a failing loop, a sink that is down, refused documents and a domain that refuses. */
export async function makeTroubles({ pool }: TestDatabase): Promise<void> {
  // Held by a worker that dies with it.
  await submit(pool, [wish('https://held.example/1')]);
  const options = { pool: 'default', slots: 1, leaseMs: 60_000, defaultDelayMs: 0, batch: 1 };
  await lease(pool, { ...options, owner: dead });
  const turned = Date.now();
  const heartbeat = { ...loop, name: 'heartbeat', lastTurnAt: turned };
  const worker = { pool: 'default', version: '0.0.0-test', host: 'north' };
  await saveWorker(pool, {
    ...worker,
    id: 'north-11-aaaa',
    role: 'fetch',
    pid: 11,
    state: {
      loops: [
        heartbeat,
        { ...loop, name: 'lease', lastTurnAt: turned },
        { ...loop, name: 'renew', lastTurnAt: turned, errorsInRow: 3, lastError: 'deadlock detected' },
      ],
    },
  });
  await saveWorker(pool, {
    ...worker,
    id: 'north-12-bbbb',
    role: 'schedule',
    pid: 12,
    state: { loops: [heartbeat, { ...loop, name: 'index', lastTurnAt: turned }] },
  });
  await saveWorker(pool, {
    ...worker,
    id: dead,
    role: 'fetch',
    host: 'south',
    pid: 13,
    state: { loops: [heartbeat] },
  });
  // Those that beat do so for the length of a test; the other one stopped five minutes ago.
  await pool.query(
    `UPDATE workers SET heartbeat_at = now() + CASE host WHEN 'south' THEN interval '-5 minutes' ELSE interval '1 day' END`,
  );
  await saveSink(pool, { name: 'archive', kind: 's3', enabled: true });
  await saveSink(pool, { name: 'webhook', kind: 'webhook', enabled: true });
  await storeDocuments(
    pool,
    Array.from({ length: 30 }, (_, n) => ({
      url: `https://herald.example/${n}`,
      title: `Story ${n} of the herald`,
    })),
  );
  await pool.query(
    `WITH gone AS (DELETE FROM outbox WHERE sink = 'archive' RETURNING *)
     INSERT INTO dead_letters SELECT bucket, sink, domain_key, url_hash, version, enqueued_at, now(), 1, $1 FROM gone`,
    [longError],
  );
  await pool.query(
    `UPDATE sink_states SET failing_since = now() - interval '2 hours', failures = 9, retry_at = now() + interval '5 minutes',
            error = 'connect ECONNREFUSED 192.0.2.1:443' WHERE sink = 'webhook'`,
  );
  await submit(
    pool,
    [1, 2, 3].map((n) => wish(`https://grumpy.example/${n}`)),
  );
  await pool.query(`UPDATE domains SET status = 'active' WHERE name = 'grumpy.example'`);
  await pool.query(
    `UPDATE domain_slots s SET circuit_good = 0, circuit_opens = ARRAY[now() - interval '1 hour'],
            circuit_reasons = ARRAY['rate_limited'], next_at = now() + interval '10 minutes'
       FROM domains d WHERE d.bucket = s.bucket AND d.domain_key = s.domain_key AND d.name = 'grumpy.example'`,
  );
  await pool.query(
    `UPDATE domain_slots SET lease_until = now() - interval '4 minutes' WHERE lease_owner = $1`,
    [dead],
  );
  await pool.query(
    `INSERT INTO source_days (source_id, day, recovered) VALUES (0, (now() AT TIME ZONE 'UTC')::date - 3, 4)`,
  );
}
