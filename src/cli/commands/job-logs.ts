import { type Command, Option } from 'commander';
import { AppError, EXIT } from '../../errors/index.ts';
import { logCategories, logLevels } from '../../jobs/index.ts';
import { systemClock } from '../../telemetry/index.ts';
import { type Api, withApi } from '../api.ts';
import { loadContext } from '../context.ts';
import { followLog, type LogWish, loadLog, logLineText } from '../job-log.ts';
import { numberOf, type ShownExecution, type ShownJob } from '../job-words.ts';
import { wholeNumber } from '../numbers.ts';
import { printJson, relativeTime } from '../output.ts';

type LogFlags = {
  run?: string;
  follow?: boolean;
  category?: string;
  level?: string;
  search?: string;
  limit: string;
};

/** `jobs logs`. */
export function addJobLogs(jobs: Command): void {
  jobs
    .command('logs <id>')
    .description('the log of a job, of its last run unless said')
    .option('--run <n>', 'of the run of this number')
    .option('--follow', 'go on with lines as they come, until the run has ended')
    .addOption(new Option('--category <word>', 'only lines about this').choices(logCategories))
    .addOption(new Option('--level <word>', 'only lines of this severity').choices(logLevels))
    .option('--search <text>', 'only lines with this in them')
    .option('--limit <n>', 'the last so many lines', '200')
    .action(async (id: string, flags: LogFlags, command: Command) => {
      const wish = wishOf(flags);
      const context = loadContext(command);
      await withApi(context, async (api) => {
        const execution = await runOf(api, numberOf(id), flags);
        const lines = await loadLog(api, execution.id, wish);
        const { json } = context.flags;
        if (json && flags.follow !== true) return printJson(lines);
        // Lines for programs come one by one where nobody knows how many there will be.
        const show = (line: (typeof lines)[number]): void =>
          void process.stdout.write(`${json ? JSON.stringify(line) : logLineText(line)}\n`);
        for (const line of lines) show(line);
        if (flags.follow !== true) return;
        const { category, level } = wish;
        const status = await followLog(api, execution.id, {
          after: lines.at(-1)?.id ?? (wish.q === undefined ? 0 : execution.logLines),
          filter: { category, level },
          show: (line) => isWanted(line.message, wish.q) && show(line),
        });
        if (!json) process.stdout.write(`The run has ended: ${status}.\n`);
      });
    });
}

function wishOf({ category, level, search, limit }: LogFlags): LogWish {
  return {
    limit: wholeNumber('--limit', limit, { least: 1, most: 200_000 }),
    ...(category === undefined ? {} : { category }),
    ...(level === undefined ? {} : { level }),
    ...(search === undefined ? {} : { q: search }),
  };
}

const isWanted = (message: string, text: string | undefined): boolean =>
  text === undefined || message.toLowerCase().includes(text.toLowerCase());

/** The run of a number, or the last one; whoever follows a job that is about to run means the run that begins. */
async function runOf(
  api: Api,
  jobId: number,
  { run: number, follow }: Pick<LogFlags, 'run' | 'follow'>,
): Promise<ShownExecution> {
  const wanted =
    number === undefined ? undefined : wholeNumber('--run', number, { least: 1, most: 2_147_483_647 });
  const load = async (): Promise<ShownExecution | undefined> => {
    const { items } = await api.get<{ items: ShownExecution[] }>(`/api/v1/jobs/${jobId}/executions`, {
      limit: 1,
      number: wanted,
    });
    return items[0];
  };
  const last = await load();
  const found = follow === true && wanted === undefined ? await untilBegun(api, jobId, { last, load }) : last;
  if (found !== undefined) return found;
  throw new AppError(
    'execution_unknown',
    wanted === undefined
      ? `job ${jobId} has not run yet`
      : `job ${jobId} has no run ${wanted}; it may have been pruned`,
    { exitCode: EXIT.usage, advice: `See its runs with: outrider jobs show ${jobId}` },
  );
}

const askAgainMs = 500;

/** Waits while the job is due, or has never run and is scheduled. A job that nobody is going to run is not waited for. */
async function untilBegun(
  api: Api,
  jobId: number,
  { last, load }: { last: ShownExecution | undefined; load: () => Promise<ShownExecution | undefined> },
): Promise<ShownExecution | undefined> {
  for (let isTold = false; ; isTold = true) {
    // Asked before its runs are: whoever takes it in between is seen.
    const { status, nextRunAt } = await api.get<ShownJob>(`/api/v1/jobs/${jobId}`);
    const newest = await load();
    const isAwaited = status === 'pending' || (status === 'scheduled' && last === undefined);
    if (!isAwaited || newest?.id !== last?.id) return newest;
    const when = status === 'pending' ? 'it is due now' : `it runs first ${relativeTime(nextRunAt)}`;
    if (!isTold) process.stderr.write(`Waiting for job ${jobId} to run: ${when}. Ctrl-C ends this.\n`);
    await systemClock.wait(askAgainMs);
  }
}
