import type { Counted, Queryable } from '../db/index.ts';
import { loadDistribution } from './placing.ts';
import type { JobKind } from './states.ts';
import { loadJobStats } from './stats.ts';

/** A job that has failed and is not tried again by itself. */
export type FailedJob = { id: number; kind: JobKind; source: string | null; error: string | null };

/** What somebody should know of jobs; null where all is well, or there is too little to say. */
export type JobTroubles = {
  failed: FailedJob[];
  failedCount: Counted;
  /** Of the last 24 hours. */
  lowSuccess: { successRate: number; failed: number; ended: number } | null;
  /** Locks of schedulers that fell silent, in the last 24 hours. */
  staleLocks: number | null;
  unevenness: { distributionScore: number; peakRuns: number; totalRuns: number } | null;
};

/** Below these somebody should look; deploy/prometheus/jobs.yml has the same numbers. */
export const leastSuccessRate = 0.8;
export const leastDistributionScore = 0.7;
/** One lost scheduler is a crash; several are a habit. */
export const manyStaleLocks = 3;
// Of few runs one more or less says nothing.
const fewRuns = 5;
const fewJobs = 20;

// As many as are told one by one, and one more to see that there are more.
const told = 4;

/**
 * What is wrong with jobs. Indexes: jobs_status and those of loadJobStats; the slots, for which all jobs are read, only
 * where there are so many that they can stand in each other's way.
 */
export async function loadJobTroubles(db: Queryable): Promise<JobTroubles> {
  const { jobs, executions, staleLocksCleared } = await loadJobStats(db);
  const { successRate, failed, completed } = executions;
  const ended = completed + failed;
  return {
    failed: jobs.failed.count === 0 ? [] : await loadFailedJobs(db),
    failedCount: jobs.failed,
    lowSuccess:
      successRate !== null && ended >= fewRuns && successRate < leastSuccessRate
        ? { successRate, failed, ended }
        : null,
    staleLocks: staleLocksCleared >= manyStaleLocks ? staleLocksCleared : null,
    unevenness: jobs.scheduled.count < fewJobs ? null : await loadUnevenness(db),
  };
}

async function loadFailedJobs(db: Queryable): Promise<FailedJob[]> {
  const result = await db.query<FailedJob>(
    `SELECT j.id, j.kind, s.slug AS source, left(e.error_message, 300) AS error
       FROM (SELECT * FROM jobs WHERE status = 'failed' ORDER BY id DESC LIMIT ${told}) j
       LEFT JOIN sources s ON s.id = j.source_id
       LEFT JOIN LATERAL (SELECT error_message FROM job_executions WHERE job_id = j.id ORDER BY number DESC LIMIT 1) e ON true
      ORDER BY j.id DESC`,
  );
  return result.rows;
}

async function loadUnevenness(db: Queryable): Promise<JobTroubles['unevenness']> {
  const { distributionScore, totalRuns, totalJobs, peak } = await loadDistribution(db);
  if (totalJobs < fewJobs || distributionScore >= leastDistributionScore) return null;
  return { distributionScore, totalRuns, peakRuns: peak?.runs ?? 0 };
}
