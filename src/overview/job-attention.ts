import type { FailedJob, JobTroubles } from '../jobs/index.ts';
import type { Attention } from './attention.ts';
import { countText, numberText } from './words.ts';

const mostSingle = 3;

/** What of jobs needs somebody. */
export function jobTroubles({
  failed,
  failedCount,
  lowSuccess,
  staleLocks,
  unevenness,
}: JobTroubles): Attention[] {
  const items = failedTroubles(failed, failedCount);
  const show: Attention['action'] = {
    label: 'Show jobs',
    kind: 'open',
    target: { screen: 'jobs', id: null, filter: {} },
  };
  if (lowSuccess !== null)
    items.push({
      id: 'job_success',
      severity: 'warn',
      sentence: `${numberText(lowSuccess.failed)} of ${countText(lowSuccess.ended, 'run')} of jobs failed in the last day.`,
      action: show,
    });
  if (staleLocks !== null)
    items.push({
      id: 'job_locks',
      severity: 'warn',
      sentence: `Schedulers were lost while they ran jobs: ${countText(staleLocks, 'lock')} had to be cleared in the last day.`,
      action: { label: 'Show processes', kind: 'open', target: { screen: 'health', id: null, filter: {} } },
    });
  if (unevenness !== null)
    items.push({
      id: 'job_slots',
      severity: 'warn',
      sentence: `Jobs stand in each other's way: ${numberText(unevenness.peakRuns)} of ${countText(unevenness.totalRuns, 'run')} of the next day begin in the same quarter of an hour.`,
      action: {
        label: 'Rebalance them',
        kind: 'rebalance_jobs',
        target: { screen: 'jobs', id: null, filter: {} },
      },
    });
  return items;
}

function failedTroubles(failed: readonly FailedJob[], count: JobTroubles['failedCount']): Attention[] {
  if (failed.length > mostSingle)
    return [
      {
        id: 'jobs_failed',
        severity: 'warn',
        sentence: `${countText(count, 'job')} have failed and are not tried again by themselves.`,
        action: {
          label: 'Show them',
          kind: 'open',
          target: { screen: 'jobs', id: null, filter: { status: 'failed' } },
        },
      },
    ];
  return failed.map(({ id, kind, source, error }) => ({
    id: `job:${id}`,
    severity: 'warn',
    sentence: `Job ${id} (${kind}${source === null ? '' : ` ${source}`}) has failed: ${error ?? 'no reason is known'}`,
    action: {
      label: 'Try it again',
      kind: 'retry_job',
      target: { screen: 'jobs', id: String(id), filter: {} },
    },
  }));
}
