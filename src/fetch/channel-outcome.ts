import type { Channel } from '../channels/index.ts';
import type { FailureKind } from './client/index.ts';

/** Why a poll brought nothing; the words of the channel's error table. */
export type ChannelError = '429' | '403' | '404' | '410' | '5xx' | 'network' | 'parse' | 'moved' | 'http';

const hourMs = 3_600_000;
const capMs = 24 * hourMs;

/** Kind of error for a status that is no success. */
export function channelErrorOf(status: number): ChannelError {
  if (status === 429) return '429';
  if (status === 401 || status === 403) return '403';
  if (status === 404) return '404';
  if (status === 410) return '410';
  if (status >= 500) return '5xx';
  return 'http';
}

/** A failed request is the network's fault, or a proxy's of our own; a hostile body is the feed's. */
export function channelErrorOfFailure(kind: FailureKind): ChannelError {
  return ['dns', 'connect', 'tls', 'timeout', 'reset', 'proxy', 'no_proxy'].includes(kind)
    ? 'network'
    : 'parse';
}

// After so many errors in a row the channel sleeps; a sleep replaces the backoff and is never shorter than it.
const sleeps: Partial<Record<ChannelError, { after: number; hours: number; rediscovers?: true }>> = {
  '403': { after: 5, hours: 24 },
  '404': { after: 3, hours: 48, rediscovers: true },
  '410': { after: 1, hours: 72, rediscovers: true },
  '5xx': { after: 10, hours: 24 },
  network: { after: 10, hours: 24 },
  parse: { after: 5, hours: 24, rediscovers: true },
};

/** What an error means for the next poll. */
export type ErrorDecision = {
  dueInMs: number;
  sleeps: boolean;
  /** The channel may be somewhere else now: its site is looked through again. */
  rediscovers: boolean;
};

/**
 * When a channel is polled again after an error: interval × 2^n up to a day, n being all errors in a row, or its sleep,
 * which errors of one kind in a row bring. A channel that has slept since its last success sleeps again at once.
 */
export function decideError(
  channel: Pick<Channel, 'intervalSeconds' | 'errorKind' | 'errorsInRow' | 'asleep'>,
  error: ChannelError,
  facts: { failures: number; retryAfterMs: number | null },
  random: () => number = Math.random,
): ErrorDecision {
  const backoff =
    Math.min(capMs, channel.intervalSeconds * 1000 * 2 ** Math.min(facts.failures, 20)) *
    (0.9 + random() * 0.2);
  const sleep = sleeps[error];
  const inRow = channel.errorKind === error ? channel.errorsInRow + 1 : 1;
  const isAsleep = sleep !== undefined && (channel.asleep || inRow >= sleep.after);
  const sleepMs = isAsleep ? sleep.hours * hourMs : 0;
  return {
    dueInMs: Math.round(Math.max(backoff, sleepMs, facts.retryAfterMs ?? 0)),
    sleeps: isAsleep,
    rediscovers: isAsleep && sleep.rediscovers === true,
  };
}

/** `max-age` of a response as a floor for the next poll; nonsense counts as absent. */
export function maxAgeSeconds(cacheControl: string | undefined): number | null {
  const match = /(?:^|[,\s])max-age\s*=\s*"?(\d{1,9})/i.exec(cacheControl ?? '');
  return match === null ? null : Number(match[1]);
}
