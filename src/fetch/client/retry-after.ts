import type { ResponseHeaders } from './result.ts';

/** A server may ask us to stay away for a day at most; "10^12 seconds" is an attack or a mistake. */
export const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;

/**
 * Reads `Retry-After` (RFC 9110 section 10.2.3: seconds or an HTTP date) as milliseconds from `now`, clamped to
 * 24 h; a date in the past is 0 and garbage is null.
 */
export function parseRetryAfter(value: string | null | undefined, now: Date): number | null {
  const text = value?.trim() ?? '';
  if (text === '' || text.length > 64) return null;
  // Fractions are not in the grammar but are sent ("0.5"); longer digit strings still clamp instead of failing.
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), MAX_RETRY_AFTER_MS);
  // Date.parse also takes "-5" or "1e3" (as years): an HTTP date always names its weekday or month.
  if (!/[a-z]{3}/i.test(text)) return null;
  const at = Date.parse(text);
  if (Number.isNaN(at)) return null;
  return Math.min(Math.max(at - now.getTime(), 0), MAX_RETRY_AFTER_MS);
}

/**
 * How long an answer asks us to stay away. A date is counted from the time by which the server sent it: by our own clock,
 * which may be an hour ahead, its wait would be over before it began.
 */
export function retryAfterOf(headers: ResponseHeaders): number | null {
  const sentAt = Date.parse(headers.date ?? '');
  return parseRetryAfter(headers['retry-after'], Number.isNaN(sentAt) ? new Date() : new Date(sentAt));
}
