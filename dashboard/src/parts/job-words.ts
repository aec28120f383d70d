import type { Item } from '../api/client.ts';
import { plural, spanText } from './format.ts';
import type { Tone } from './tones.ts';

/** A job as lists have it. */
export type JobItem = Item<'listJobs'>;
/** A job without its last runs, as the rest of the API answers it. */
export type JobFacts = Omit<JobItem, 'marks'>;
/** A run as a mark beside its job. */
export type RunMark = JobItem['marks'][number];
/** What may be done with a job. */
export type JobAction = JobItem['actions'][number];
type Status = JobItem['status'];
type RunStatus = RunMark['status'];

/** What jobs do, in the order of the form. */
export const kindWords: Readonly<Record<JobItem['kind'], { label: string; does: string }>> = {
  crawl: {
    label: 'crawl',
    does: 'Follows the links of a source from its front page, and fetches what is new.',
  },
  refresh: {
    label: 'refresh',
    does: 'Asks again for known articles of a source, and keeps what has changed.',
  },
  discover: { label: 'discover', does: 'Looks for feeds, sitemaps and archives of a source.' },
  recalculate: { label: 'recalculate', does: 'Works out priorities and counts anew, for all sources.' },
  prune: { label: 'prune', does: 'Deletes what is older than its time: logs, old runs, copies.' },
  import: { label: 'import', does: 'Adds the sources of a list.' },
};

/** All statuses of jobs, as a filter names them. */
export const jobStatuses: readonly Status[] = [
  'pending',
  'scheduled',
  'running',
  'paused',
  'completed',
  'failed',
  'cancelled',
];

const statusTones: Readonly<Record<Status, Tone>> = {
  pending: 'info',
  scheduled: 'ok',
  running: 'info',
  paused: 'warn',
  completed: 'ok',
  failed: 'fail',
  cancelled: 'quiet',
};

/** How a job stands. */
export const jobState = ({ status }: Pick<JobFacts, 'status'>): { tone: Tone; word: string } => ({
  tone: statusTones[status],
  word: status,
});

const runTones: Readonly<Record<RunStatus, Tone>> = {
  running: 'info',
  completed: 'ok',
  failed: 'fail',
  cancelled: 'quiet',
};

/** How a run ended, or that it has not. */
export const runState = ({ status }: { status: RunStatus }): { tone: Tone; word: string } => ({
  tone: runTones[status],
  word: status,
});

/** What a job is called: what it does, and to whom. */
export const jobName = ({ kind, source }: Pick<JobFacts, 'kind' | 'source'>): string =>
  source === null ? kindWords[kind].label : `${kindWords[kind].label} ${source}`;

const hour = 3600;
const day = 86_400;

/** A time between two runs in one unit where it has one: a day is 24 h, as people set it. */
export function intervalText(seconds: number): string {
  if (seconds >= 2 * day && seconds % day === 0) return `${seconds / day} d`;
  if (seconds >= hour && seconds % hour === 0) return `${seconds / hour} h`;
  return seconds % 60 === 0 && seconds < 2 * hour ? `${seconds / 60} min` : spanText(seconds);
}

/** How often it runs, and what makes that another now. */
export function scheduleParts(job: JobFacts): { every: string; now: string | null } {
  const { intervalSeconds, effectiveIntervalSeconds, unchangedRuns, scheduleEnabled } = job;
  if (intervalSeconds === null) return { every: 'once', now: null };
  const every = `every ${intervalText(intervalSeconds)}`;
  if (!scheduleEnabled) return { every, now: 'turned off' };
  if (effectiveIntervalSeconds === null || effectiveIntervalSeconds === intervalSeconds)
    return { every, now: null };
  const times = unchangedRuns === 1 ? 'once' : `${unchangedRuns} times`;
  return { every, now: `now every ${intervalText(effectiveIntervalSeconds)}: nothing new ${times}` };
}

/** The same as one text. */
export const scheduleText = (job: JobFacts): string =>
  Object.values(scheduleParts(job))
    .filter((part) => part !== null)
    .join(', ');

/** Why a job does not run by itself, or when it is tried again; null: there is nothing to say. */
export function standingText(job: JobFacts): string | null {
  if (job.status === 'paused')
    return job.pauseReason === 'source_disabled' ? 'its source is disabled' : 'by an operator';
  if (job.status === 'pending') return 'due now, waits for a scheduler';
  if (job.retries > 0 && job.status !== 'completed' && job.status !== 'cancelled')
    return job.status === 'failed'
      ? `gave up after ${plural(job.retries, 'retry', 'retries')}`
      : `retry ${job.retries} of ${job.maxRetries}`;
  return null;
}

/** How long a run took. */
export const durationText = (ms: number | null): string => (ms === null ? '–' : spanText(ms / 1000));

/** What buttons say, and what they did. */
export const actionWords: Readonly<Record<JobAction, { label: string; done: string; many: string }>> = {
  pause: { label: 'Pause', done: 'rests until it is resumed', many: 'rest until they are resumed' },
  resume: { label: 'Resume', done: 'goes on', many: 'go on' },
  cancel: { label: 'Cancel', done: 'is cancelled', many: 'are cancelled' },
  retry: { label: 'Retry', done: 'runs again', many: 'run again' },
  force_run: {
    label: 'Run now',
    done: 'runs as soon as a scheduler is free',
    many: 'run as soon as a scheduler is free',
  },
};

/** The actions in the order of their buttons. */
export const actionOrder: readonly JobAction[] = ['retry', 'resume', 'force_run', 'pause', 'cancel'];
