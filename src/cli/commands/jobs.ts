import { type Command, Option } from 'commander';
import { type JobKind, jobKinds, jobSorts } from '../../jobs/index.ts';
import { type Api, listItems, withApi } from '../api.ts';
import { loadContext } from '../context.ts';
import {
  actText,
  everyText,
  marksText,
  numberOf,
  type ShownEvent,
  type ShownExecution,
  type ShownJob,
  type ShownLine,
  shortSpan,
} from '../job-words.ts';
import { wholeNumber } from '../numbers.ts';
import { printJson, printTable, relativeTime } from '../output.ts';
import { addJobLogs } from './job-logs.ts';
import { addJobMaking } from './job-making.ts';
import { addJobUpkeep } from './job-upkeep.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** `jobs …`: runs that are asked for once or again and again. */
export function addJobCommands(program: Command): void {
  const jobs = program
    .command('jobs')
    .description('make, see and steer runs that are done once or again and again')
    .addHelpText(
      'after',
      `
A job is pending (due at once), scheduled (it waits for its time), running, paused, completed, failed or cancelled.
  outrider jobs create herald --every 6h     crawl a source every six hours
  outrider jobs force-run 3                  run job 3 now, out of its turn
  outrider jobs logs 3 --follow              watch what it does
More: docs/guides/jobs.md`,
    );
  addLists(jobs);
  addJobMaking(jobs);
  addActs(jobs);
  addJobLogs(jobs);
  addJobUpkeep(jobs);
}

type ListFlags = { status?: string; kind?: JobKind; source?: string; sort?: string; limit: string };

function addLists(jobs: Command): void {
  jobs
    .command('list', { isDefault: true })
    .description('jobs with their next run and how their last runs ended, the newest job first')
    .option('--status <words>', 'only of these statuses, separated by commas')
    .addOption(new Option('--kind <kind>', 'only those of a kind').choices(jobKinds))
    .option('--source <slug>', 'only those of a source')
    .addOption(new Option('--sort <order>', 'order').choices(jobSorts))
    .option('--limit <n>', 'most lines', '100')
    .action(async (flags: ListFlags, command: Command) => {
      const limit = wholeNumber('--limit', flags.limit, { least: 1, most: 100_000 });
      const context = loadContext(command);
      const { limit: _limit, ...query } = flags;
      const { items, isMore } = await withApi(context, (api) =>
        listItems<ShownLine>(api, '/api/v1/jobs', query, limit),
      );
      if (context.flags.json) return printJson(items);
      if (items.length === 0)
        return say(
          (flags.status ?? flags.kind ?? flags.source)
            ? 'No job matches.'
            : 'No jobs yet. "outrider jobs create <source> --every 6h" makes one.',
        );
      printJobs(items);
      if (isMore) say(`The first ${limit}; --limit shows more.`);
    });
  jobs
    .command('show <id>')
    .description('one job with its last runs and what became of it')
    .option('--limit <n>', 'how many runs and events', '10')
    .action(async (id: string, flags: { limit: string }, command: Command) => {
      const limit = wholeNumber('--limit', flags.limit, { least: 1, most: 500 });
      const context = loadContext(command);
      const shown = await withApi(context, (api) => loadJob(api, numberOf(id), limit));
      if (context.flags.json) return printJson(shown);
      printJob(shown);
    });
}

function printJobs(rows: readonly ShownLine[]): void {
  printTable(rows, [
    { title: 'ID', value: (row) => String(row.id), align: 'right' },
    { title: 'KIND', value: (row) => row.kind },
    { title: 'SOURCE', value: (row) => row.source ?? 'all', flexible: true },
    { title: 'STATUS', value: (row) => row.status },
    { title: 'EVERY', value: everyText, spare: 2 },
    { title: 'NEXT RUN', value: nextText },
    { title: 'RUNS', value: (row) => String(row.executions), align: 'right', spare: 3 },
    { title: 'LAST RUNS', value: (row) => marksText(row.marks), spare: 1 },
  ]);
}

const nextText = (row: Pick<ShownJob, 'status' | 'nextRunAt'>): string =>
  row.status === 'running' ? 'now' : relativeTime(row.nextRunAt);

type JobCard = { job: ShownJob; executions: ShownExecution[]; events: ShownEvent[] };

async function loadJob(api: Api, id: number, limit: number): Promise<JobCard> {
  const path = `/api/v1/jobs/${id}`;
  const job = await api.get<ShownJob>(path);
  const { items: executions } = await api.get<{ items: ShownExecution[] }>(`${path}/executions`, { limit });
  const { items: events } = await api.get<{ items: ShownEvent[] }>(`${path}/events`, { limit });
  return { job, executions, events };
}

function printJob({ job, executions, events }: JobCard): void {
  const about = job.source === null ? '' : ` of ${job.source}`;
  say(
    `Job ${job.id}: ${job.kind}${about}, ${job.status}${job.pauseReason === 'source_disabled' ? ' (its source is disabled)' : ''}`,
  );
  for (const [name, value] of [
    ['every', everyText(job)],
    ['next run', nextText(job)],
    ['address', job.url ?? '–'],
    [
      'limits',
      `${job.maxPages ?? 'any number of'} pages, ${job.maxDepth === null ? 'usual depth' : `depth ${job.maxDepth}`}`,
    ],
    ['retries', `${job.retries} of ${job.maxRetries}`],
    ['made', `${relativeTime(job.createdAt)} by ${job.createdBy}`],
    ['you can', job.actions.map((one) => one.replace('_', '-')).join(', ') || 'make a new one'],
  ])
    say(`  ${name!.padEnd(9)} ${value}`);
  if (executions.length > 0) {
    say('');
    printTable(executions, [
      { title: 'RUN', value: (row) => String(row.number), align: 'right' },
      { title: 'STATUS', value: (row) => row.status },
      { title: 'BEGAN', value: (row) => relativeTime(row.startedAt) },
      { title: 'TOOK', value: (row) => shortSpan(row.durationMs === null ? null : row.durationMs / 1000) },
      { title: 'PAGES', value: (row) => String(row.itemsCrawled), align: 'right' },
      { title: 'DOCS', value: (row) => String(row.itemsIndexed), align: 'right' },
      { title: 'ERROR', value: (row) => row.errorMessage ?? '', flexible: true },
    ]);
  }
  if (events.length === 0) return;
  say('');
  printTable(events, [
    { title: 'WHEN', value: (row) => relativeTime(row.at) },
    { title: 'WHAT', value: (row) => row.action.replace('_', '-') },
    { title: 'TO', value: (row) => row.to },
    { title: 'BY', value: (row) => row.actor },
    { title: 'WHY', value: (row) => row.reason ?? '', flexible: true },
  ]);
}

function addActs(jobs: Command): void {
  for (const [act, description] of [
    ['pause', 'let a scheduled job rest'],
    ['resume', 'let a paused job go on, in the least filled quarter of an hour'],
    ['cancel', 'end a job for good; a run under way ends within a second'],
    ['retry', 'run a failed job again, with all its retries before it'],
    ['force-run', 'run a job now, out of its turn'],
  ] as const)
    jobs
      .command(`${act} <id>`)
      .description(description)
      .option('--reason <text>', 'why; it is kept with the job')
      .action(async (id: string, flags: { reason?: string }, command: Command) => {
        const context = loadContext(command);
        const number = numberOf(id);
        const job = await withApi(context, (api) =>
          api.post<ShownJob>(`/api/v1/jobs/${number}/${act}`, flags),
        );
        if (context.flags.json) return printJson(job);
        say(actText(act, job));
      });
  jobs
    .command('delete <id>')
    .description('forget a job with its runs and logs; one that runs is cancelled first')
    .action(async (id: string, _flags: object, command: Command) => {
      const context = loadContext(command);
      const number = numberOf(id);
      await withApi(context, (api) => api.delete(`/api/v1/jobs/${number}`));
      if (context.flags.json) return printJson({ id: number, deleted: true });
      say(`Job ${number} is forgotten; what it brought stays.`);
    });
}
