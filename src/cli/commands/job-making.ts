import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { AppError, EXIT, messageOf } from '../../errors/index.ts';
import { type JobKind, jobKinds } from '../../jobs/index.ts';
import { formatOfName, listFormats } from '../../source-lists/index.ts';
import { withApi } from '../api.ts';
import { loadContext } from '../context.ts';
import { parseEvery, type ShownJob } from '../job-words.ts';
import { wholeNumber } from '../numbers.ts';
import { printJson, relativeTime } from '../output.ts';

type MakeFlags = {
  kind?: JobKind;
  every?: string;
  url?: string;
  maxPages?: string;
  maxDepth?: string;
  retries?: string;
  backoff?: string;
  adaptive: boolean;
  off?: boolean;
  list?: string;
  format?: string;
};

/** `jobs create`. */
export function addJobMaking(jobs: Command): void {
  jobs
    .command('create [source]')
    .description('make a job: recurring with --every, else it runs once, at once')
    .addOption(new Option('--kind <kind>', 'what it does; crawl unless said').choices(jobKinds))
    .option('--every <time>', 'between two runs: 30m, 6h, 2d')
    .option('--url <url>', "where it begins instead of the source's address")
    .option('--max-pages <n>', 'end a run after so many pages')
    .option('--max-depth <n>', 'follow links so deep; -1: without end')
    .option('--retries <n>', 'try a failed run so often again; 3 unless said')
    .option('--backoff <seconds>', 'wait so long before the first retry; 60 unless said')
    .option('--no-adaptive', 'keep the interval also when runs find nothing new')
    .option('--off', 'keep it paused until it is resumed')
    .option('--list <file>', 'the list of sources that an import brings in')
    .addOption(new Option('--format <format>', 'of that list; by its name unless said').choices(listFormats))
    .action(async (source: string | undefined, flags: MakeFlags, command: Command) => {
      const body = await bodyOf(source, flags);
      const context = loadContext(command);
      const job = await withApi(context, (api) =>
        api.post<ShownJob & { warnings: string[] }>('/api/v1/jobs', body),
      );
      if (context.flags.json) return printJson(job);
      for (const warning of job.warnings) process.stderr.write(`warning: ${warning}\n`);
      process.stdout.write(`${madeText(job)}\nWatch it with: outrider jobs logs ${job.id} --follow\n`);
    });
}

function madeText({ id, kind, source, status, nextRunAt, pauseReason }: ShownJob): string {
  const what = `Job ${id} (${kind}${source === null ? '' : ` ${source}`})`;
  if (status === 'scheduled') return `${what} runs first ${relativeTime(nextRunAt)}.`;
  if (status === 'pending') return `${what} runs as soon as a scheduler takes it.`;
  return pauseReason === 'source_disabled'
    ? `${what} rests because its source is disabled.`
    : `${what} rests until "outrider jobs resume ${id}".`;
}

async function bodyOf(source: string | undefined, flags: MakeFlags): Promise<object> {
  const number = (flag: string, text: string | undefined, most: number, least = 1): number | undefined =>
    text === undefined ? undefined : wholeNumber(flag, text, { least, most });
  if (flags.kind === 'import' && flags.list === undefined)
    throw new AppError('usage', 'an import job needs its list', {
      exitCode: EXIT.usage,
      advice: 'Name it with --list FILE; "outrider import FILE" brings it in at once, without a job.',
    });
  const wishes = {
    source,
    kind: flags.kind,
    url: flags.url,
    ...(flags.every === undefined ? {} : parseEvery(flags.every)),
    maxPages: number('--max-pages', flags.maxPages, 10_000_000),
    maxDepth: number('--max-depth', flags.maxDepth, 1000, -1),
    maxRetries: number('--retries', flags.retries, 100, 0),
    retryBackoffSeconds: number('--backoff', flags.backoff, 3600),
    adaptiveScheduling: flags.adaptive ? undefined : false,
    scheduleEnabled: flags.off === true ? false : undefined,
    metadata: flags.list === undefined ? undefined : await listOf(flags.list, flags.format),
  };
  return Object.fromEntries(Object.entries(wishes).filter(([, value]) => value !== undefined));
}

async function listOf(file: string, format: string | undefined): Promise<object> {
  try {
    return { text: await readFile(file, 'utf8'), format: format ?? formatOfName(file) ?? 'lines' };
  } catch (error) {
    throw new AppError('list_unreadable', `${file} cannot be read: ${messageOf(error)}`, {
      exitCode: EXIT.usage,
      cause: error,
    });
  }
}
