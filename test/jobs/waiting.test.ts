import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findCountProblems, findSlotProblems, type SubmitItem, submit } from '../../src/frontier/index.ts';
import { leaseJobs, loadRun, sweepExecutions } from '../../src/jobs/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { makeJob } from './fixtures.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** A running execution. */
async function begin(): Promise<{ id: number; execution: bigint; startedAt: Date }> {
  const id = await makeJob(database.pool);
  const [job] = await leaseJobs(database.pool, { owner: 'one', limit: 1 });
  return { id, execution: job!.executionId, startedAt: job!.startedAt };
}

const page = (url: string, execution: bigint | null, change: Partial<SubmitItem> = {}): SubmitItem => ({
  url,
  kind: 'article',
  origin: 'spider',
  sourceId: null,
  priority: 5,
  executionId: execution,
  own: true,
  ...change,
});

const waitingOf = async (execution: bigint): Promise<number> =>
  (await loadRun(database.pool, execution))!.waiting;

describe('a run is held up', () => {
  test.each([
    ['by a page of a domain that never had a budget', 'SELECT', 1],
    [
      'by a retry within the hour',
      `UPDATE url_frontier SET ready = false, due_at = now() + interval '50 minutes'`,
      1,
    ],
    [
      'not by a later one',
      `UPDATE url_frontier SET ready = false, due_at = now() + interval '70 minutes'`,
      0,
    ],
    ['not by a held one', `UPDATE url_frontier SET ready = false, due_at = now() + held_span()`, 0],
    ['not by a domain that rests', `UPDATE domain_slots SET next_at = now() + interval '1 day'`, 0],
    [
      'not by a used budget',
      `UPDATE domain_slots SET budget_left = 0, budget_until = now() + interval '1 day'`,
      0,
    ],
    [
      'by a budget that is left',
      `UPDATE domain_slots SET budget_left = 9, budget_until = now() + interval '1 day'`,
      1,
    ],
    [
      'not by a page for which nobody renders',
      `UPDATE url_frontier SET status = 'needs_render', ready = false`,
      0,
    ],
    ['not by what is done', `UPDATE url_frontier SET status = 'fetched', ready = false`, 0],
  ])('%s', async (what, change, expected) => {
    await database.pool.query('DELETE FROM url_frontier');
    await database.pool.query(
      'UPDATE domain_slots SET budget_left = NULL, budget_until = NULL, next_at = now(), queued = 0, budgeted = 0',
    );
    const { execution } = await begin();
    await submit(database.pool, [page(`https://wait.example/news/${what.replaceAll(' ', '-')}`, execution)]);
    await database.pool.query(change);
    expect(await waitingOf(execution)).toBe(expected);
  });
});

describe('what a run leaves', () => {
  test.each([
    ['free', 'pending', null, 'fetched'],
    ['run_ended', 'dead', 'run_ended', 'fetched'],
    ['cancelled', 'dead', 'cancelled', 'fetched'],
  ] as const)('by %s: what was never fetched is %s', async (sweep, status, code, known) => {
    await database.pool.query('DELETE FROM url_frontier');
    await database.pool.query('DELETE FROM counter_deltas');
    await database.pool.query('UPDATE domain_slots SET queued = 0, budgeted = 0, top = NULL, wake_at = NULL');
    const { id, execution, startedAt } = await begin();
    await submit(database.pool, [page('https://left.example/', null, { kind: 'listing' })]);
    await database.pool.query(
      `UPDATE url_frontier SET status = 'fetched', ready = false, due_at = NULL, validation_status = 'valid', fetch_count = 1,
              last_fetched_at = now() - interval '1 day'`,
    );
    await database.pool.query('UPDATE domain_slots SET queued = 0, budgeted = 0, top = NULL');
    await database.pool.query('UPDATE counter_deltas SET rows_pending = 0, rows_fetched = 1');
    const again = page('https://left.example/', execution, { kind: 'listing', refetchBefore: startedAt });
    const answers = await submit(database.pool, [
      again,
      page('https://left.example/news/a-new-one', execution),
    ]);
    expect(answers.map((one) => one.answer)).toEqual(['refreshed', 'inserted']);
    // Met a second time, a listing is not fetched again.
    expect((await submit(database.pool, [again]))[0]!.answer).toBe('duplicate');
    expect(await waitingOf(execution)).toBe(2);
    await database.pool.query(
      `UPDATE jobs SET status = 'completed', lock_token = NULL, execution_id = NULL, heartbeat_at = NULL WHERE id = $1`,
      [id],
    );
    await database.pool.query(
      `UPDATE job_executions SET status = 'completed', completed_at = now(), sweep = $2 WHERE id = $1`,
      [execution.toString(), sweep],
    );
    expect(await sweepExecutions(database.pool)).toBe(2);
    const rows = await database.pool.query<{
      kind: string;
      status: string;
      code: string | null;
      own: boolean;
      due: boolean;
    }>(
      `SELECT kind, status, error_code AS code, execution_id IS NOT NULL AS own, due_at IS NOT NULL AS due
         FROM url_frontier ORDER BY kind`,
    );
    const isFree = sweep === 'free';
    expect(rows.rows).toEqual([
      { kind: 'article', status, code, own: !isFree, due: isFree },
      // Nobody looks at a listing again by himself: it is no more due than before the run.
      { kind: 'listing', status: isFree ? 'pending' : known, code: null, own: !isFree, due: isFree },
    ]);
    const state = await database.pool.query('SELECT sweep FROM job_executions WHERE id = $1', [
      execution.toString(),
    ]);
    expect(state.rows).toEqual([{ sweep: null }]);
    expect(await findSlotProblems(database.pool)).toEqual([]);
    expect(await findCountProblems(database.pool)).toEqual([]);
    // Any producer may submit again what was given up, and then it is nobody's run's.
    const [answer] = await submit(database.pool, [page('https://left.example/news/a-new-one', null)]);
    expect(answer!.answer).toBe(isFree ? 'duplicate' : 'raised');
  });
});
