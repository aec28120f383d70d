import type { Command } from 'commander';
import type { Distribution, JobStats, Rebalance, SyncReport } from '../../jobs/index.ts';
import { type Json, withApi } from '../api.ts';
import { loadContext } from '../context.ts';
import { shortSpan } from '../job-words.ts';
import { printJson, printTable, relativeTime } from '../output.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** `jobs stats|rebalance|sync`: all jobs at once. */
export function addJobUpkeep(jobs: Command): void {
  jobs
    .command('stats')
    .description('how many jobs there are, how their runs go, and how evenly they are spread over the day')
    .action(async (_flags: object, command: Command) => {
      const context = loadContext(command);
      const { metrics, distribution } = await withApi(context, async (api) => ({
        metrics: await api.get<Json<JobStats>>('/api/v1/scheduler/metrics'),
        distribution: await api.get<Json<Distribution>>('/api/v1/scheduler/distribution'),
      }));
      if (context.flags.json) return printJson({ ...metrics, distribution });
      printStats(metrics, distribution);
    });
  jobs
    .command('rebalance')
    .description('give jobs other times, so that they are spread evenly over the day')
    .option('--preview', 'only say what would be done')
    .action(async (flags: { preview?: boolean }, command: Command) => {
      const context = loadContext(command);
      const path = `/api/v1/scheduler/rebalance${flags.preview === true ? '/preview' : ''}`;
      const done = await withApi(context, (api) => api.post<Json<Rebalance>>(path));
      if (context.flags.json) return printJson(done);
      if (done.moves.length === 0)
        return say(`No job has to move; ${percent(done.scoreBefore)} of the runs are spread evenly.`);
      printTable(done.moves.slice(0, mostShown), [
        { title: 'ID', value: (row) => String(row.id), align: 'right' },
        { title: 'FROM', value: (row) => relativeTime(row.from) },
        { title: 'TO', value: (row) => relativeTime(row.to) },
      ]);
      if (done.moves.length > mostShown)
        say(`… and ${done.moves.length - mostShown} more; --json has them all.`);
      const jobsText = done.moves.length === 1 ? '1 job' : `${done.moves.length} jobs`;
      say(
        `${jobsText} ${flags.preview === true ? 'would get' : 'got'} another time; ${percent(done.scoreBefore)} of the runs ${flags.preview === true ? 'are' : 'were'} spread evenly, then ${percent(done.scoreAfter)}.`,
      );
    });
  jobs
    .command('sync')
    .description('make missing jobs for enabled sources that the spider reads, and resume paused ones')
    .action(async (_flags: object, command: Command) => {
      const context = loadContext(command);
      const report = await withApi(context, (api) =>
        api.post<SyncReport>('/api/v1/admin/sync-enabled-sources'),
      );
      if (context.flags.json) return printJson(report);
      say(`${report.created} made, ${report.resumed} resumed, ${report.unchanged} as they should be.`);
    });
}

const mostShown = 20;
const percent = (share: number | null): string => (share === null ? '–' : `${Math.floor(share * 100)} %`);
const runWord = (count: number): string => (count === 1 ? 'run' : 'runs');

function printStats(
  { jobs, executions, staleLocksCleared }: Json<JobStats>,
  distribution: Json<Distribution>,
): void {
  const counts = Object.entries(jobs).filter(([, { count }]) => count > 0);
  say(
    counts.length === 0
      ? 'No jobs yet. "outrider jobs create <source> --every 6h" makes one.'
      : `Jobs: ${counts.map(([status, { count, exact }]) => `${count}${exact ? '' : '+'} ${status}`).join(', ')}`,
  );
  const { total, failed, averageDurationMs, successRate } = executions;
  say(
    total === 0
      ? 'Nothing has run in the last 24 h.'
      : `Last 24 h: ${total} ${runWord(total)}, ${failed} failed${averageDurationMs === null ? '; none has ended' : `, ${percent(successRate)} well; ${shortSpan(averageDurationMs / 1000)} on average`}`,
  );
  if (staleLocksCleared > 0) say(`Locks of lost schedulers cleared: ${staleLocksCleared}`);
  const { totalRuns, distributionScore, peak, slotMinutes } = distribution;
  if (peak !== null)
    say(
      `Next 24 h: ${totalRuns} ${runWord(totalRuns)}, ${percent(distributionScore)} of them spread evenly; at most ${peak.runs} in ${slotMinutes} min, first at ${new Date(peak.at).toISOString().slice(11, 16)} UTC`,
    );
}
