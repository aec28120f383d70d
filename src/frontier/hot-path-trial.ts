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
  const slots = await attempt('domain_slots', () =>
    tx.query<{ bucket: number }>(
      `UPDATE domain_slots s SET pool = $1, own_pool = $1 FROM domains d
        WHERE d.bucket = s.bucket AND d.domain_key = s.domain_key AND d.name = 'scale-trial.invalid' RETURNING s.bucket`,
      [trial.pool],
    ),
  );
  const bucket = slots?.rows[0]?.bucket ?? 0;
  await attempt('frontier_due_buckets', () =>
    tx.query('SELECT bucket FROM frontier_due_buckets($1)', [trial.pool]),
  );
  await attempt('frontier_waking_buckets', () => tx.query('SELECT bucket FROM frontier_waking_buckets()'));
  await attempt('frontier_promote', () => promote(tx, { slots: 1, bucket }));
  const taken = await attempt('frontier_lease', () => lease(tx, { ...trial, slots: 1, batch: 1, bucket }));
  const held = taken?.[0] ?? { bucket, domainKey: 0n, epoch: 0n };
  await attempt('frontier_renew', () => renew(tx, [held], trial));
  await attempt('frontier_settle', () =>
    settle(tx, held, {
      ...trial,
      final: true,
      items: (taken?.[0]?.urls ?? []).map(({ hash }) => ({
        hash,
        status: 'fetched',
        kind: 'article',
        dueInMs: null,
        fetched: true,
        tries: 0,
      })),
      documents: [],
      requests: [],
      monotonicMs: 0,
      lastAnswerAt: 0,
    }),
  );
  if (refusals.length === 0 && taken?.length !== 1)
    refusals.push({ call: 'frontier_lease', said: 'it did not hand out what was submitted' });
  await tx.query('ROLLBACK TO SAVEPOINT trial');
  return refusals;
}
