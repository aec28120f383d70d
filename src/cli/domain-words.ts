import type { DomainRow } from '../domains/index.ts';
import { reasonText } from '../explain/index.ts';
import { relativeTime } from './output.ts';

/** What is known of a rest; times are dates, or text where the API brought them. */
type RestingDomain = Pick<DomainRow, 'status' | 'reason' | 'isPermanent' | 'hasTrial'> & {
  restUntil: Date | string | null;
  nextAt: Date | string | null;
};

/** Why a domain rests and when that ends; null for those that do not. */
export function restLine(row: RestingDomain, now = new Date()): string | null {
  if (row.status !== 'blocked' && row.status !== 'unreachable') return null;
  const words = reasonText(row.reason);
  const reason = row.reason === null || words === row.reason ? words : `${row.reason}, ${words}`;
  if (row.isPermanent) return `reason: ${reason}; until it is reset`;
  const restUntil = row.restUntil === null ? null : new Date(row.restUntil);
  if (restUntil === null || restUntil <= now) return `reason: ${reason}; the rest is over`;
  const isTrial = row.hasTrial && row.nextAt !== null && new Date(row.nextAt) < restUntil;
  const trial = isTrial ? `, next trial ${relativeTime(row.nextAt)}` : '';
  return `reason: ${reason}; ends ${relativeTime(restUntil)}${trial}`;
}
