import { AppError, EXIT } from '../errors/index.ts';
import type { Execution, ExecutionDetail, IntervalType, Job, JobEvent, JobLine } from '../jobs/index.ts';
import type { Json } from './api.ts';
import { wholeNumber } from './numbers.ts';

/** A job as the API tells it. */
export type ShownJob = Json<Job> & { actions: string[]; effectiveIntervalSeconds: number | null };
/** A job in a list. */
export type ShownLine = Json<Omit<JobLine, 'metadata'>> & { effectiveIntervalSeconds: number | null };
/** A run, an event, and a run with everything, as the API tells them. */
export type ShownExecution = Json<Execution>;
export type ShownEvent = Json<JobEvent>;
export type ShownDetail = Json<ExecutionDetail>;

/** The number of a job as somebody typed it. */
export const numberOf = (text: string): number =>
  wholeNumber('the id of a job', text, { least: 1, most: 2_147_483_647 });

const units: Readonly<Record<string, IntervalType>> = { m: 'minutes', min: 'minutes', h: 'hours', d: 'days' };

/** Reads "30m", "6h" or "2d" as the API takes it. */
export function parseEvery(text: string): { intervalMinutes: number; intervalType: IntervalType } {
  const [, number = '', unit = ''] = /^(\d{1,6})\s*(m|min|h|d)$/.exec(text.trim().toLowerCase()) ?? [];
  const intervalType = units[unit];
  if (intervalType !== undefined && Number(number) > 0)
    return { intervalMinutes: Number(number), intervalType };
  throw new AppError('usage', `--every takes a time as 30m, 6h or 2d, not "${text}"`, {
    exitCode: EXIT.usage,
  });
}

/** A stretch of time in few letters. */
export function shortSpan(seconds: number | null): string {
  if (seconds === null) return '–';
  for (const [unit, size] of [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
  ] as const)
    if (seconds >= size && (seconds % size === 0 || seconds > 10 * size))
      return `${Math.round(seconds / size)} ${unit}`;
  return seconds >= 90 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds)} s`;
}

/** How often a job runs, and whether it waits longer because runs found nothing new. */
export function everyText(job: {
  intervalSeconds: number | null;
  effectiveIntervalSeconds: number | null;
  scheduleEnabled: boolean;
}): string {
  if (job.intervalSeconds === null) return 'once';
  const base = shortSpan(job.intervalSeconds);
  const now =
    job.effectiveIntervalSeconds === job.intervalSeconds
      ? ''
      : ` (now ${shortSpan(job.effectiveIntervalSeconds)})`;
  return `${base}${now}${job.scheduleEnabled ? '' : ', off'}`;
}

const marks: Readonly<Record<string, string>> = { completed: '✓', failed: '✗', cancelled: '–', running: '…' };

/** The last runs as marks, the newest on the right. */
export const marksText = (runs: readonly { status: string }[], most = 10): string =>
  runs
    .slice(0, most)
    .map((run) => marks[run.status] ?? '?')
    .toReversed()
    .join('');

const done: Readonly<Record<string, string>> = {
  pause: 'rests until it is resumed.',
  cancel: 'is cancelled for good; what it had under way ends within a second.',
  retry: 'runs again as soon as a scheduler takes it.',
  'force-run': 'runs as soon as a scheduler takes it.',
};

/** What was done to a job, in a sentence. */
export function actText(act: string, job: Pick<ShownJob, 'id' | 'nextRunAt' | 'returnsTo'>): string {
  if (act === 'resume') return `Job ${job.id} goes on; it runs next at ${job.nextRunAt}.`;
  const rests = job.returnsTo === 'paused' ? ' It rests again afterwards.' : '';
  return `Job ${job.id} ${done[act]}${rests}`;
}
