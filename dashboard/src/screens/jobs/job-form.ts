import type { Answer, Input } from '../../api/client.ts';
import type { Problem } from '../../api/problem.ts';
import { problemText } from '../../api/problem.ts';

type Job = Answer<'getJob'>;
type NewJob = Input<'createJob'>['body'];
type Change = Input<'updateJob'>['body'];
/** What a job does. */
export type JobKind = Job['kind'];
/** What an interval is given in. */
export type IntervalType = NonNullable<NewJob['intervalType']>;

/** A job as it stands in the form; an empty number is one that is not given. */
export type JobForm = {
  kind: JobKind;
  source: string;
  url: string;
  isRecurring: boolean;
  interval: number | '';
  unit: IntervalType;
  isOn: boolean;
  isAdaptive: boolean;
  maxRetries: number | '';
  backoff: number | '';
  maxPages: number | '';
  maxDepth: number | '';
  format: string;
  list: string;
};
/** A field that a complaint can be about. */
export type FormField =
  | 'source'
  | 'url'
  | 'interval'
  | 'maxRetries'
  | 'backoff'
  | 'maxPages'
  | 'maxDepth'
  | 'list';
/** What is wrong, and where. */
export type FormFailure = { field: FormField; text: string };

/** Which kinds are about one source. */
export const needsSource = (kind: JobKind): boolean => ['crawl', 'refresh', 'discover'].includes(kind);
/** Which kinds fetch pages, whose number can be limited. */
export const hasPages = (kind: JobKind): boolean => kind === 'crawl' || kind === 'refresh';

const secondsOf: Readonly<Record<IntervalType, number>> = { minutes: 60, hours: 3600, days: 86_400 };

/** An interval in the largest unit that it is a whole number of. */
function intervalOf(seconds: number | null): Pick<JobForm, 'isRecurring' | 'interval' | 'unit'> {
  if (seconds === null) return { isRecurring: false, interval: 6, unit: 'hours' };
  const unit =
    (['days', 'hours', 'minutes'] as const).find((one) => seconds % secondsOf[one] === 0) ?? 'minutes';
  return { isRecurring: true, interval: Math.max(1, Math.round(seconds / secondsOf[unit])), unit };
}

/** The form of a new job, about a source where one is named. */
export const emptyForm = (source: string): JobForm => ({
  kind: 'crawl',
  source,
  url: '',
  isRecurring: true,
  interval: 6,
  unit: 'hours',
  isOn: true,
  isAdaptive: true,
  maxRetries: 3,
  backoff: 60,
  maxPages: '',
  maxDepth: '',
  format: 'lines',
  list: '',
});

/** The form of a job that is there. */
export function formOf(job: Job): JobForm {
  const { format, text } = job.metadata;
  return {
    ...intervalOf(job.intervalSeconds),
    kind: job.kind,
    source: job.source ?? '',
    url: job.url ?? '',
    isOn: job.scheduleEnabled,
    isAdaptive: job.adaptiveScheduling,
    maxRetries: job.maxRetries,
    backoff: job.retryBackoffSeconds,
    maxPages: job.maxPages ?? '',
    maxDepth: job.maxDepth ?? '',
    format: typeof format === 'string' ? format : 'lines',
    list: typeof text === 'string' ? text : '',
  };
}

const listOf = ({ format, list }: JobForm): Record<string, unknown> => ({ format, text: list });

/** What is sent to make a job. */
export function newJob(form: JobForm): NewJob {
  const { kind, source, url, interval, maxRetries, backoff, maxPages, maxDepth } = form;
  return {
    kind,
    ...(needsSource(kind) && source !== '' ? { source } : {}),
    ...(kind === 'crawl' && url.trim() !== '' ? { url: url.trim() } : {}),
    ...(form.isRecurring && interval !== ''
      ? { intervalMinutes: interval, intervalType: form.unit, scheduleEnabled: form.isOn }
      : {}),
    adaptiveScheduling: form.isAdaptive,
    ...(maxRetries === '' ? {} : { maxRetries }),
    ...(backoff === '' ? {} : { retryBackoffSeconds: backoff }),
    ...(hasPages(kind) && maxPages !== '' ? { maxPages } : {}),
    ...(kind === 'crawl' && maxDepth !== '' ? { maxDepth } : {}),
    ...(kind === 'import' ? { metadata: listOf(form) } : {}),
  };
}

/** What is sent to change a job: only what is another than it was; null: nothing is. */
export function jobChange(before: JobForm, now: JobForm, metadata: Record<string, unknown>): Change | null {
  const body: Change = {};
  const isOther = (...keys: (keyof JobForm)[]): boolean => keys.some((key) => before[key] !== now[key]);
  if (isOther('url')) body.url = now.url.trim() === '' ? null : now.url.trim();
  if (!now.isRecurring) {
    if (before.isRecurring) body.intervalMinutes = null;
  } else if (now.interval !== '' && isOther('isRecurring', 'interval', 'unit')) {
    body.intervalMinutes = now.interval;
    body.intervalType = now.unit;
  }
  if (now.isRecurring && isOther('isOn')) body.scheduleEnabled = now.isOn;
  if (isOther('isAdaptive')) body.adaptiveScheduling = now.isAdaptive;
  if (isOther('maxRetries') && now.maxRetries !== '') body.maxRetries = now.maxRetries;
  if (isOther('backoff') && now.backoff !== '') body.retryBackoffSeconds = now.backoff;
  if (isOther('maxPages')) body.maxPages = now.maxPages === '' ? null : now.maxPages;
  if (isOther('maxDepth')) body.maxDepth = now.maxDepth === '' ? null : now.maxDepth;
  if (isOther('format', 'list')) {
    body.metadata = { ...metadata, ...listOf(now) };
  }
  return Object.keys(body).length === 0 ? null : body;
}

const fieldOfCode: Readonly<Record<string, FormField>> = {
  job_source_required: 'source',
  source_unknown: 'source',
  job_interval_invalid: 'interval',
  job_url_invalid: 'url',
  address_refused: 'url',
  job_import_invalid: 'list',
  job_metadata_invalid: 'list',
};
const fieldOfName: Readonly<Record<string, FormField>> = {
  source: 'source',
  url: 'url',
  intervalMinutes: 'interval',
  intervalType: 'interval',
  maxRetries: 'maxRetries',
  retryBackoffSeconds: 'backoff',
  maxPages: 'maxPages',
  maxDepth: 'maxDepth',
  metadata: 'list',
};

/** Which field a refusal is about, as its code or the name in its words tells; null: none. */
export function failureOf(problem: Problem): FormFailure | null {
  const named = /^body\/(\w+)/.exec(problem.message)?.[1] ?? '';
  const field = fieldOfCode[problem.code] ?? fieldOfName[named];
  if (field === undefined) return null;
  // The other advices are for those who write commands or JSON.
  const advice = field === 'url' ? problem.advice : null;
  return { field, text: problemText({ message: problem.message, advice }) };
}
