import type { DomainRow } from '../domains/index.ts';
import { AppError, EXIT } from '../errors/index.ts';
import { type DomainFacts, reasonText } from '../explain/index.ts';
import { relativeTime } from './output.ts';

/** What is said when a domain is not known, or is none. */
export function unknownDomain(name: string): AppError {
  return new AppError('domain_unknown', `no domain "${name}" is known`, {
    exitCode: EXIT.usage,
    httpStatus: 404,
    advice:
      'Check the spelling; "outrider domain status" lists domains, and "outrider domain seed FILE --dataset NAME" or "outrider add" brings new ones.',
  });
}

/** Facts without the parts of the key, which say nothing to anybody. */
export const shownFacts = ({ domain, ...rest }: DomainFacts) => ({ domain: shownDomain(domain), ...rest });

/** A domain for programs. */
export function shownDomain<T extends DomainRow>({ bucket: _bucket, domainKey, ...row }: T) {
  return { key: BigInt.asUintN(64, domainKey).toString(16).padStart(16, '0'), ...row };
}

/** What is known of a rest; times are dates, or text where the API brought them. */
type RestingDomain = Pick<DomainRow, 'status' | 'reason' | 'isPermanent'> & {
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
  const isTrial = row.nextAt !== null && new Date(row.nextAt) < restUntil;
  const trial = isTrial ? `, next trial ${relativeTime(row.nextAt)}` : '';
  return `reason: ${reason}; ends ${relativeTime(restUntil)}${trial}`;
}
