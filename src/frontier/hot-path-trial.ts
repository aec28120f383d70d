import type { Queryable } from '../db/index.ts';
import { messageOf } from '../errors/index.ts';
import { lease, promote, renew } from './lease.ts';
import { saveLeaseMode } from './lease-mode.ts';
import { settle } from './settle.ts';
import { submit } from './submit.ts';

/** A call of the hot path that the database refused, and what it said. */
export type Refusal = { call: string; said: string };

// A name nobody can register: should the transaction be kept by mistake, nobody is asked for anything.
const trialUrl = 'https://scale-trial.invalid/';
const bucket = 0;
const domainKey = 0n; // no name has it
const hash = Buffer.alloc(32, 1);
const trial = { owner: 'scale', pool: 'scale-trial', leaseMs: 60_000, defaultDelayMs: 1000 };

/**
 * Takes a URL through submit, promote, lease, renew and settle, bucket by bucket, and undoes all of it. The answer of the
 * server itself is worth more than a list of what it is said to refuse, which every version of it makes older. `tx` is
 * inside a transaction; nothing of the trial is left in it.
 */
export async function tryHotPath(tx: Queryable): Promise<Refusal[]> {
  const refusals: Refusal[] = [];
  const attempt = async <T>(call: string, work: () => Promise<T>): Promise<T | undefined> => {
    await tx.query('SAVEPOINT one_call');
    try {
      return await work();
    } catch (error) {
      refusals.push({ call, said: messageOf(error) });
      await tx.query('ROLLBACK TO SAVEPOINT one_call');
      return undefined;
    }
  };
  await tx.query('SAVEPOINT trial');
  await attempt('frontier_set_lease_mode', () => saveLeaseMode(tx, 'bucket', 'scale'));
  await attempt('frontier_submit', () =>
    submit(tx, [
      { url: trialUrl, kind: 'article', origin: 'manual', sourceId: null, priority: 5, own: true },
    ]),
  );
  // Whatever becomes of the submit, the other calls must have something to do, or they would be let pass.
  await attempt('rows of a domain', () => putRows(tx));
  await attempt('frontier_due_buckets', () =>
    tx.query('SELECT bucket FROM frontier_due_buckets($1)', [trial.pool]),
  );
  await attempt('frontier_waking_buckets', () => tx.query('SELECT bucket FROM frontier_waking_buckets()'));
  await attempt('frontier_promote', () => promote(tx, { slots: 1, bucket }));
  const taken = await attempt('frontier_lease', () => lease(tx, { ...trial, slots: 1, batch: 1, bucket }));
  if (taken === undefined) await attempt('a lease', () => putLease(tx));
  const held = taken?.[0] ?? { bucket, domainKey, epoch: 1n };
  await attempt('frontier_renew', () => renew(tx, [held], trial));
  const settled = await attempt('frontier_settle', () =>
    settle(tx, held, {
      ...trial,
      final: true,
      items: [{ hash, status: 'fetched', kind: 'article', dueInMs: null, fetched: true, tries: 0 }],
      documents: [],
      requests: [],
      monotonicMs: 0,
      lastAnswerAt: 0,
    }),
  );
  if (settled !== undefined && settled.settled !== 1)
    refusals.push({ call: 'frontier_settle', said: `${settled.settled} of 1 URLs were settled` });
  if (taken !== undefined && taken.length !== 1)
    refusals.push({ call: 'frontier_lease', said: `${taken.length} of 1 domains were leased` });
  await tx.query('ROLLBACK TO SAVEPOINT trial');
  return refusals;
}

async function putRows(tx: Queryable): Promise<void> {
  const key = [bucket, domainKey.toString()];
  await tx.query(
    `INSERT INTO domains (bucket, domain_key, name) VALUES ($1, $2, 'rows.scale-trial.invalid')`,
    key,
  );
  await tx.query(
    `INSERT INTO domain_slots (bucket, domain_key, pool, own_pool, next_at, top, queued, wake_at)
     VALUES ($1, $2, $3, $3, now() - interval '1 second', 5, 1, now() - interval '1 second')`,
    [...key, trial.pool],
  );
  await tx.query(
    `INSERT INTO url_frontier (bucket, domain_key, url_hash, url, kind, origin, priority, level, due_at, ready, discovered_at)
     VALUES ($1, $2, $3, $4, 'article', 'manual', 5, 5, now(), true, now())`,
    [...key, hash, trialUrl],
  );
}

async function putLease(tx: Queryable): Promise<void> {
  await tx.query(
    `UPDATE domain_slots SET lease_owner = $3, lease_epoch = 1, leased_at = now(), lease_until = now() + interval '1 minute',
            in_flight = ARRAY[$4::bytea] WHERE bucket = $1 AND domain_key = $2`,
    [bucket, domainKey.toString(), trial.owner, hash],
  );
}
