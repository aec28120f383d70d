import type { LeasedUrl } from '../../frontier/index.ts';
import { ingest, type ProbeResult } from '../../ingest/index.ts';
import { identifyUrl } from '../../url/index.ts';
import { retryAfterOf } from '../client/index.ts';
import { decideFailure, decideRejection, decideStatus, type Verdict } from '../outcome.ts';
import { type Ended, ended, fine, type RowContext, type RowEnd, responseOf } from './row-end.ts';

const patience = 3;
const longestHoldMs = 300_000;
const hiccupMs = 2000;

/** A probe ends with its first answer, because somebody waits for it; only "slow down" and a server's hiccup are not taken for one. */
export async function concludeProbe(row: LeasedUrl, arrival: Ended, context: RowContext): Promise<RowEnd> {
  const done: Verdict = fine();
  const failed = (reason: string, status: number | null): RowEnd =>
    ended(row, done, {
      fetched: false,
      httpStatus: status,
      result: { kind: 'failed', url: row.url, status, reason },
    });
  switch (arrival.end) {
    case 'gate':
      if (arrival.gate.answer === 'blocked') return failed('robots_blocked', null);
      return failed(arrival.gate.unreached ?? 'robots_unavailable', null);
    case 'dead':
      return failed(arrival.code, arrival.status);
    case 'left':
      return ended(row, done, {
        fetched: true,
        httpStatus: arrival.status,
        result: { kind: 'redirect', url: arrival.identity.fetchUrl },
      });
    case 'answered': {
      const { result } = arrival;
      if (result.outcome === 'failed')
        return {
          ...failed(result.kind, null),
          domain: decideFailure(result.kind, result.detail, { tries: 0, maxTries: 2 }).domain,
        };
      if (result.outcome !== 'response') return failed(result.outcome, result.status);
      if (result.status < 200 || result.status >= 300) {
        const retryAfterMs = retryAfterOf(result.headers);
        const facts = { tries: row.tries, maxTries: context.maxTries };
        const { domain, verdict } = decideStatus(result.status, retryAfterMs, facts);
        // "Not now" says nothing about what is there: ask again when we may, or a feed would be taken for missing.
        if (domain.signal === 'slow_down' && row.tries < patience && domain.holdMs <= longestHoldMs)
          return ended(row, { ...verdict, tries: row.tries + 1 }, { httpStatus: result.status }, domain);
        // A hiccup of the server says as little; seconds, not minutes, because somebody waits.
        if (domain.signal === 'server_error' && row.tries < patience - 1)
          return ended(
            row,
            { ...verdict, status: 'failed', dueInMs: hiccupMs, tries: row.tries + 1 },
            { httpStatus: result.status },
            domain,
          );
        return { ...failed(`http_${result.status}`, result.status), domain };
      }
      const ingested = await ingest(responseOf(row, { ...arrival, result }), context.settings);
      if (ingested.outcome === 'unreadable') return failed(ingested.reason, result.status);
      if (ingested.outcome !== 'probe') return failed(ingested.outcome, result.status);
      const value = placed(ingested.result as ProbeResult, row.url, arrival.moved);
      // A login in the place of a feed that was only guessed says nothing about the site.
      const isRefused = value.kind === 'failed' && value.reason !== 'login_wall';
      const domain = isRefused
        ? decideRejection(value.reason, '', { tries: 0, maxTries: context.maxTries }).domain
        : ({ signal: 'good' } as const);
      return ended(row, done, { fetched: true, httpStatus: result.status, result: value }, domain);
    }
  }
}

/**
 * A feed lies where it was asked for as long as that address only leads on for now: today's target may be gone tomorrow.
 * Where nothing but the host or a slash differs, the target is the same feed without the detour.
 */
function placed(value: ProbeResult, asked: string, moved: 'no' | 'permanently' | 'temporarily'): ProbeResult {
  if (value.kind !== 'feed' || moved !== 'temporarily' || pathOf(value.url) === pathOf(asked)) return value;
  return { ...value, url: asked };
}

function pathOf(url: string): string {
  const identified = identifyUrl(url);
  if (identified.outcome === 'rejected') return url;
  const { pathname, search } = new URL(identified.identity.key);
  return pathname + search;
}
