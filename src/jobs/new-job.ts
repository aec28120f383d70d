import type { Queryable } from '../db/index.ts';
import { AppError } from '../errors/index.ts';
import { findSourceIds, loadSources, type Source } from '../sources/index.ts';
import { identifyUrl } from '../url/index.ts';
import { checkImportList } from './import-list.ts';
import { type IntervalType, intervalSecondsOf } from './interval.ts';
import { type JobKind, kindsOfSources } from './states.ts';

/** What may be said of a job besides its kind and its source. */
export type JobWishes = {
  url?: string | null;
  /** Six and hours are six hours; null takes the schedule away. */
  intervalMinutes?: number | null;
  intervalType?: IntervalType;
  scheduleEnabled?: boolean;
  adaptiveScheduling?: boolean;
  maxRetries?: number;
  retryBackoffSeconds?: number;
  maxPages?: number | null;
  maxDepth?: number | null;
  metadata?: Record<string, unknown>;
};

/** A job as somebody asks for it; `source` is a short name or a number. */
export type NewJob = JobWishes & { kind?: JobKind; source?: string | number };

const unusable = (code: string, message: string, advice?: string): AppError =>
  new AppError(code, message, { httpStatus: 422, exitCode: 2, ...(advice === undefined ? {} : { advice }) });

/** The sources that some jobs are about, by what was given: read at once, however many there are. */
export async function jobSources(
  db: Queryable,
  wanted: readonly NewJob[],
): Promise<Map<string | number, Source>> {
  const given = [...new Set(wanted.map((job) => job.source))];
  const slugs = given.filter((one) => typeof one === 'string');
  const ids = given.filter((one) => typeof one === 'number');
  const named = slugs.length === 0 ? new Map<string, number>() : await findSourceIds(db, slugs);
  const found = await loadSources(db, [...ids, ...named.values()]);
  const sources = new Map<string | number, Source>();
  for (const source of found) sources.set(source.id, source).set(source.slug, source);
  return sources;
}

/** The source a job is about; null where its kind is about none. */
export function jobSource(
  sources: ReadonlyMap<string | number, Source>,
  kind: JobKind,
  given?: string | number,
): Source | null {
  if (given === undefined) {
    if (!kindsOfSources.includes(kind)) return null;
    throw unusable(
      'job_source_required',
      `a job that is to ${kind} needs a source`,
      'Give the short name of one; "outrider sources" lists them.',
    );
  }
  const source = sources.get(given);
  if (source === undefined)
    throw unusable('source_unknown', `there is no source "${given}"`, '"outrider sources" lists them.');
  // It would be shown beside the job, and everything be pruned or counted all the same.
  if (!kindsOfSources.includes(kind))
    throw unusable(
      'job_source_unused',
      `a job that is to ${kind} is about all sources, not about ${source.slug}`,
      `Leave the source out; about one source are ${kindsOfSources.join(', ')}.`,
    );
  return source;
}

/** The interval in seconds; null: it runs once. undefined: nothing is said of it. */
export function jobInterval(wishes: JobWishes): number | null | undefined {
  const { intervalMinutes, intervalType } = wishes;
  if (intervalMinutes === undefined && intervalType === undefined) return undefined;
  if (intervalMinutes === null) return null;
  if (intervalMinutes === undefined)
    throw unusable('job_interval_invalid', 'intervalType is given without intervalMinutes');
  const seconds = intervalSecondsOf(intervalMinutes, intervalType ?? 'minutes');
  if (seconds !== null) return seconds;
  throw unusable('job_interval_invalid', `${intervalMinutes} ${intervalType} is more than a year`);
}

/** The address a job begins at, as it is stored: one that can be crawled, of its source unless that may be left. */
export function jobUrl(given: string, source: Source | null): string {
  const identified = identifyUrl(given);
  if (identified.outcome === 'rejected')
    throw unusable(
      'job_url_invalid',
      `"${given.slice(0, 200)}" is not an address that can be crawled (${identified.reason.replaceAll('_', ' ')})`,
      'Give a web address with its scheme, as https://example.com/news',
    );
  const own = source === null || source.settings.allowLeaving === true ? null : identifyUrl(source.url);
  if (own?.outcome === 'ok' && own.identity.domainKey !== identified.identity.domainKey)
    throw unusable(
      'job_url_invalid',
      `"${given.slice(0, 200)}" is no address of ${own.identity.domain}, which this source is about`,
      'Give an address of the source, or let the source be left (settings.allowLeaving).',
    );
  return identified.identity.fetchUrl;
}

const mostMetadataBytes = 65_536;
const mostListBytes = 1_000_000;
const mostLevels = 32;

/** What is kept with a job, as JSON; refuses what PostgreSQL could not hold. An import brings its list here. */
export async function jobMetadata(kind: JobKind, given: Record<string, unknown>): Promise<string> {
  if (levelsOf(given) > mostLevels)
    throw unusable('job_metadata_invalid', `metadata has more than ${mostLevels} levels`);
  const json = JSON.stringify(given);
  // A list is measured by itself; as JSON its line breaks take two characters each.
  const most = kind === 'import' ? 2 * mostListBytes : mostMetadataBytes;
  if (Buffer.byteLength(json) > most)
    throw unusable('job_metadata_invalid', `metadata has more than ${most} bytes`);
  // As JSON writes them: a NUL, or half of a surrogate pair.
  if (/\\u0000|\\ud[89a-f][0-9a-f]{2}/i.test(json.replaceAll('\\\\', '')))
    throw unusable('job_metadata_invalid', 'metadata has a character that cannot be stored');
  if (kind === 'import') await checkImportList(given);
  return json;
}

// Step by step: whoever sends ten thousand brackets must not exhaust the stack.
function levelsOf(value: unknown): number {
  let level: unknown[] = [value];
  for (let depth = 0; ; depth += 1) {
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
    if (level.length === 0 || depth > mostLevels) return depth;
  }
}

// Deeper than this a spider mostly walks calendars.
const deep = 5;

/** What somebody should think over, though it is taken. */
export function jobWarnings({ maxDepth }: JobWishes): string[] {
  if (maxDepth === -1)
    return ['maxDepth −1 has no end: only maxPages and the budget of the domain end a run'];
  if (maxDepth != null && maxDepth > deep)
    return [`maxDepth ${maxDepth} is deep: most sites need ${deep} or less, and pages grow with each level`];
  return [];
}
