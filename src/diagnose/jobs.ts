import type { Database } from '../db/index.ts';
import { loadJobTroubles } from '../jobs/index.ts';
import { type CheckResult, ok, warn } from './check.ts';

const percent = (share: number): string => `${Math.floor(share * 100)} %`;

/** Jobs that failed, runs that fail often, schedulers that are lost, and times that are uneven. */
export async function checkJobs({ pool }: Database): Promise<CheckResult[]> {
  const { failed, failedCount, lowSuccess, staleLocks, unevenness } = await loadJobTroubles(pool);
  const results: CheckResult[] = [];
  const [first] = failed;
  if (first !== undefined) {
    const { count, exact } = failedCount;
    const many = count === 1 && exact ? 'One job has' : `${count}${exact ? '' : '+'} jobs have`;
    results.push(
      warn(
        `${many} failed, job ${first.id} last: ${first.error ?? 'no reason is known'}`,
        `See why with "outrider jobs logs ${first.id}", then: outrider jobs retry ${first.id}`,
      ),
    );
  }
  if (lowSuccess !== null)
    results.push(
      warn(
        `Only ${percent(lowSuccess.successRate)} of ${lowSuccess.ended} runs of jobs went well in the last 24 h.`,
        'See which with: outrider jobs',
      ),
    );
  if (staleLocks !== null)
    results.push(
      warn(
        `${staleLocks} locks of lost schedulers were cleared in the last 24 h.`,
        'Something ends the schedule role while it runs jobs: look at its log and at memory. Nothing was lost.',
      ),
    );
  if (unevenness !== null)
    results.push(
      warn(
        `Only ${percent(unevenness.distributionScore)} of the next ${unevenness.totalRuns} runs of jobs are spread evenly.`,
        'See what would help with: outrider jobs rebalance --preview',
      ),
    );
  return results.length > 0 ? results : [ok('Jobs go well.')];
}
