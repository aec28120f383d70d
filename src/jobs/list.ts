import { type Counted, countedUpTo, mostCounted, type Queryable } from '../db/index.ts';
import type { ExecutionStatus } from './history.ts';
import { type Job, jobColumns } from './jobs.ts';
import { type JobKind, type JobStatus, jobStatuses } from './states.ts';

/** A run as a mark beside its job. */
export type ExecutionMark = {
  id: string;
  number: number;
  status: ExecutionStatus;
  startedAt: Date;
  durationMs: number | null;
  itemsIndexed: number;
};

/** A job in a list, with its last runs, newest first. */
export type JobLine = Job & { marks: ExecutionMark[] };

/** Orders of the list. */
export const jobSorts = ['newest', 'next_run'] as const;
export type JobSort = (typeof jobSorts)[number];

/** Which jobs. */
export type JobFilter = { statuses?: readonly JobStatus[]; kind?: JobKind; sourceId?: number };

/** A place in the list: the time of the next run in microseconds, null: none; and the number. */
export type JobPlace = { nextUs: bigint | null; id: number };

const marksShown = 20;
const nextRun = `coalesce(j.next_run_at, 'infinity'::timestamptz)`;

/**
 * Jobs, a page at a time, with the marks of their last twenty runs in the same statement. Indexes: the key, jobs_status,
 * jobs_kind, jobs_source, jobs_next, jobs_status_next, and job_executions_job_id_number_key for each job of the page.
 */
export async function listJobs(
  db: Queryable,
  options: JobFilter & { sort?: JobSort; limit: number; after?: JobPlace },
): Promise<{ rows: JobLine[]; next: JobPlace | null }> {
  const { sort = 'newest', limit, after } = options;
  const values: unknown[] = [];
  const given = (one: unknown): string => `$${values.push(one)}`;
  const wishes = filterOf(options, given);
  if (after !== undefined && sort === 'newest') wishes.push(`j.id < ${given(after.id)}`);
  if (after !== undefined && sort === 'next_run') {
    const at =
      after.nextUs === null
        ? `'infinity'::timestamptz`
        : `'epoch'::timestamptz + ${given(after.nextUs.toString())}::bigint * interval '1 microsecond'`;
    wishes.push(`(${nextRun}, j.id) > (${at}, ${given(after.id)}::integer)`);
  }
  const order = sort === 'newest' ? 'j.id DESC' : `${nextRun}, j.id`;
  const result = await db.query<JobLine & { nextUs: bigint | null }>(
    // The page is chosen first, so that only its jobs get their marks.
    `SELECT ${jobColumns}, (extract(epoch FROM j.next_run_at) * 1000000)::bigint AS "nextUs", m.marks
       FROM (SELECT j.* FROM jobs j ${wishes.length === 0 ? '' : `WHERE ${wishes.join(' AND ')}`}
              ORDER BY ${order} LIMIT ${given(limit)}) j
       LEFT JOIN sources s ON s.id = j.source_id
      CROSS JOIN LATERAL (
        SELECT coalesce(json_agg(x ORDER BY x.number DESC), '[]') AS marks FROM (
          SELECT e.id::text AS id, e.number, e.status, e.started_at AS "startedAt",
                 (extract(epoch FROM e.completed_at - e.started_at) * 1000)::float8 AS "durationMs", e.items_indexed AS "itemsIndexed"
            FROM job_executions e WHERE e.job_id = j.id ORDER BY e.number DESC LIMIT ${marksShown}) x) m
      ORDER BY ${order}`,
    values,
  );
  const last = result.rows.length === limit ? result.rows.at(-1) : undefined;
  return {
    rows: result.rows.map(({ nextUs: _nextUs, marks, ...row }) => ({
      ...row,
      // Times come as text out of JSON.
      marks: marks.map((mark) => ({ ...mark, startedAt: new Date(mark.startedAt) })),
    })),
    next: last === undefined ? null : { nextUs: last.nextUs, id: last.id },
  };
}

function filterOf({ statuses, kind, sourceId }: JobFilter, given: (one: unknown) => string): string[] {
  const wishes: string[] = [];
  // One status has an index in either order; several are compared row by row.
  if (statuses?.length === 1) wishes.push(`j.status = ${given(statuses[0])}::job_status`);
  else if (statuses !== undefined) wishes.push(`j.status = ANY (${given(statuses)}::job_status[])`);
  if (kind !== undefined) wishes.push(`j.kind = ${given(kind)}::job_kind`);
  if (sourceId !== undefined) wishes.push(`j.source_id = ${given(sourceId)}`);
  return wishes;
}

/** How many jobs a filter leaves, counted up to ten thousand. */
export async function countJobs(db: Queryable, filter: JobFilter): Promise<Counted> {
  const values: unknown[] = [];
  const wishes = filterOf(filter, (one) => `$${values.push(one)}`);
  const result = await db.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM (
       SELECT FROM jobs j ${wishes.length === 0 ? '' : `WHERE ${wishes.join(' AND ')}`} LIMIT ${mostCounted + 1}) x`,
    values,
  );
  return countedUpTo(result.rows[0]!.count);
}

/** How many jobs there are of each status, counted up to ten thousand each. Index: jobs_status. */
export async function countJobsByStatus(db: Queryable): Promise<Record<JobStatus, Counted>> {
  const result = await db.query<{ status: JobStatus; count: number }>(
    `SELECT s.status, c.count FROM unnest($1::job_status[]) AS s(status)
      CROSS JOIN LATERAL (SELECT count(*)::integer AS count FROM (
        SELECT FROM jobs j WHERE j.status = s.status LIMIT ${mostCounted + 1}) x) c`,
    [jobStatuses],
  );
  return Object.fromEntries(result.rows.map(({ status, count }) => [status, countedUpTo(count)])) as Record<
    JobStatus,
    Counted
  >;
}

/** A change of a job's status, and who or what did it. */
export type JobEvent = {
  id: string;
  at: Date;
  from: JobStatus | null;
  to: JobStatus;
  action: string;
  reason: string | null;
  actor: string;
  executionId: string | null;
};

/** What became of a job, newest first, from before an event. Index: job_events_job. */
export async function loadJobEvents(
  db: Queryable,
  jobId: number,
  { before, limit }: { before?: bigint; limit: number },
): Promise<JobEvent[]> {
  const result = await db.query<JobEvent>(
    `SELECT e.id::text AS id, e.at, e.from_status AS "from", e.to_status AS "to", e.action, e.reason, e.actor,
            e.execution_id::text AS "executionId"
       FROM job_events e WHERE e.job_id = $1 AND e.id < $2 ORDER BY e.id DESC LIMIT $3`,
    [jobId, (before ?? 9_223_372_036_854_775_807n).toString(), limit],
  );
  return result.rows;
}
