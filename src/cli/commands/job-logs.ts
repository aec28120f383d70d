import { type Command, Option } from 'commander';
import { AppError, EXIT } from '../../errors/index.ts';
import { logCategories, logLevels } from '../../jobs/index.ts';
import { type Api, withApi } from '../api.ts';
import { loadContext } from '../context.ts';
import { followLog, type LogWish, loadLog, logLineText } from '../job-log.ts';
import { numberOf, type ShownExecution } from '../job-words.ts';
import { wholeNumber } from '../numbers.ts';
import { printJson } from '../output.ts';

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
        const execution = await runOf(api, numberOf(id), flags.run);
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

/** The run of a number, or the last one. */
async function runOf(api: Api, jobId: number, number: string | undefined): Promise<ShownExecution> {
  const wanted =
    number === undefined ? undefined : wholeNumber('--run', number, { least: 1, most: 2_147_483_647 });
  const { items } = await api.get<{ items: ShownExecution[] }>(`/api/v1/jobs/${jobId}/executions`, {
    limit: 1,
    number: wanted,
  });
  if (items[0] !== undefined) return items[0];
  throw new AppError(
    'execution_unknown',
    wanted === undefined
      ? `job ${jobId} has not run yet`
      : `job ${jobId} has no run ${wanted}; it may have been pruned`,
    { exitCode: EXIT.usage, advice: `See its runs with: outrider jobs show ${jobId}` },
  );
}
