import type { BlockReason, LadderSignal } from '../domains/index.ts';
import type { UrlKind, UrlStatus } from '../frontier/index.ts';
import type { FailureKind } from './client/index.ts';

/** What an answer means for its URL. */
export type Verdict = {
  status: UrlStatus;
  /** null: not due again by itself. */
  dueInMs: number | null;
  tries: number;
  errorCode: string | null;
  errorText: string | null;
};

/** What an answer means for its domain. */
export type DomainSignal =
  | { signal: 'good' }
  /** 429, or 503 that names a time. */
  | { signal: 'slow_down'; holdMs: number; reason: BlockReason }
  /** 401, 403, challenge, login wall. */
  | { signal: 'refused'; reason: BlockReason }
  | { signal: 'server_error'; status: number }
  | { signal: 'network'; kind: FailureKind }
  /** Says nothing about the domain's health: 404, robots, an unsupported type. */
  | { signal: 'neutral' };

export type Decision = { verdict: Verdict; domain: DomainSignal };

export type RowFacts = {
  tries: number;
  maxTries: number;
  /** The circuit is open and this is its probe: a server error is not held against the URL. */
  probing?: boolean;
  /** Jitter of the backoff; a simulation brings its own. */
  random?: () => number;
};

const minuteMs = 60_000;
const backoffMs = [1, 5, 30, 120, 720].map((minutes) => minutes * minuteMs);
const defaultHoldMs = minuteMs;
// As long as a proxy rests after an error.
const proxyRestMs = 5 * minuteMs;

/** Time until the next try after the n-th failure, with a fifth of jitter either way so that retries spread. */
export function decideBackoff(failures: number, random: () => number = Math.random): number {
  const base = backoffMs[Math.min(failures, backoffMs.length) - 1] ?? minuteMs;
  return Math.round(base * (0.8 + random() * 0.4));
}

const dead = (row: RowFacts, code: string, text: string): Verdict => ({
  status: 'dead',
  dueInMs: null,
  tries: row.tries + 1,
  errorCode: code,
  errorText: text,
});

/** A failure that costs a try; the last one is `finalCode`. */
function failed(row: RowFacts, code: string, text: string, finalCode: string): Verdict {
  const tries = row.tries + 1;
  if (tries >= row.maxTries) return { ...dead(row, finalCode, `${text} (${tries} tries)`), tries };
  return {
    status: 'failed',
    dueInMs: decideBackoff(tries, row.random),
    tries,
    errorCode: code,
    errorText: text,
  };
}

/** A failure that is not the URL's fault: it waits and keeps its tries. */
function postponed(row: RowFacts, holdMs: number, code: string, text: string): Verdict {
  return { status: 'failed', dueInMs: holdMs, tries: row.tries, errorCode: code, errorText: text };
}

/** The response table of pages for everything but 2xx, 3xx and 304, which the caller handles with the body at hand. */
export function decideStatus(status: number, retryAfterMs: number | null, row: RowFacts): Decision {
  const text = `the server answered ${status}`;
  if (status === 429 || (status === 503 && retryAfterMs !== null)) {
    const holdMs = retryAfterMs ?? defaultHoldMs;
    return {
      verdict: postponed(row, holdMs, status === 429 ? 'rate_limited' : 'unavailable', text),
      domain: { signal: 'slow_down', holdMs, reason: status === 429 ? 'rate_limited' : 'server_error' },
    };
  }
  if (status === 401 || status === 403)
    return {
      verdict: failed(row, 'forbidden', text, 'forbidden'),
      domain: { signal: 'refused', reason: status === 401 ? 'login_required' : 'forbidden' },
    };
  if (status === 404) return { verdict: dead(row, 'not_found', text), domain: { signal: 'neutral' } };
  if (status === 410) return { verdict: dead(row, 'gone', text), domain: { signal: 'neutral' } };
  if (status === 451) return { verdict: dead(row, 'legal', text), domain: { signal: 'neutral' } };
  if (status === 408 || status === 425)
    return { verdict: failed(row, `http_${status}`, text, 'max_retries'), domain: { signal: 'neutral' } };
  if (status >= 400 && status < 500)
    return { verdict: dead(row, `http_${status}`, text), domain: { signal: 'neutral' } };
  if (status >= 500 && status < 600)
    return {
      verdict: row.probing
        ? postponed(row, defaultHoldMs, `http_${status}`, text)
        : failed(row, `http_${status}`, text, 'max_retries'),
      domain: { signal: 'server_error', status },
    };
  return { verdict: failed(row, 'bad_response', text, 'max_retries'), domain: { signal: 'neutral' } };
}

const networkKinds = new Set<FailureKind>(['dns', 'connect', 'tls', 'timeout', 'reset']);

/** What a request without a usable response means. */
export function decideFailure(kind: FailureKind, detail: string, row: RowFacts): Decision {
  // Refused by our own guard: trying again would be refused again.
  if (kind === 'refused_address' || kind === 'refused_port') {
    return { verdict: dead(row, kind, detail), domain: { signal: 'neutral' } };
  }
  // Nobody was asked, and a proxy that is away is no page's fault.
  if (kind === 'no_proxy')
    return { verdict: postponed(row, proxyRestMs, kind, detail), domain: { signal: 'neutral' } };
  const domain: DomainSignal = networkKinds.has(kind) ? { signal: 'network', kind } : { signal: 'neutral' };
  return { verdict: failed(row, kind, detail, 'max_retries'), domain };
}

const blockReasonOf = {
  challenge: 'challenge',
  access_denied: 'forbidden',
  login_wall: 'login_required',
} as const;

/** What an answer means for the domain's ladder: 401, 403, 429, 503, challenges and logins count, 500 does not. */
export function ladderSignalOf(domain: DomainSignal): LadderSignal {
  switch (domain.signal) {
    case 'good':
      return { signal: 'good' };
    case 'slow_down':
    case 'refused':
      return { signal: 'refused', reason: domain.reason };
    case 'server_error':
      return domain.status === 503 ? { signal: 'refused', reason: 'server_error' } : { signal: 'neutral' };
    case 'network':
      return ['dns', 'connect', 'tls'].includes(domain.kind)
        ? { signal: 'unreached' }
        : { signal: 'neutral' };
    case 'neutral':
      return { signal: 'neutral' };
  }
}

// A domain that answered well within this time does not refuse us when it refuses an image.
const imageDoubtMs = 86_400_000;

/** Whether a refusal of one row is held against its domain. */
export function tellsOfDomain(
  kind: UrlKind,
  signal: DomainSignal['signal'],
  facts: { goodAgeMs: number | null; failingForMs: number | null },
): boolean {
  const { goodAgeMs, failingForMs } = facts;
  if (signal !== 'refused') return true;
  // Many sites refuse images to all but their own pages; that is no reason to leave the pages alone.
  if (kind === 'image') return goodAgeMs === null || goodAgeMs > imageDoubtMs;
  // A feed's own 401 or 403 says nothing about a domain that has answered well since the feed began to fail.
  if (kind !== 'channel') return true;
  return failingForMs === null || goodAgeMs === null || goodAgeMs > failingForMs;
}

/** What a page that needs JavaScript may hope for: a browser, none because its source wants none, or it had one. */
export type Rendering = 'possible' | 'never' | 'tried';

/** What a page that was answered but refused by validation means. */
export function decideRejection(
  reason: string,
  detail: string,
  row: RowFacts,
  rendering: Rendering = 'possible',
): Decision {
  if (reason === 'needs_javascript' && rendering === 'tried') {
    // Final: another try would show the same.
    const verdict = dead(row, 'render_empty', `a browser showed no text either: ${detail}`);
    return { verdict, domain: { signal: 'good' } };
  }
  if (reason === 'needs_javascript' && rendering === 'possible') {
    return {
      verdict: {
        status: 'needs_render',
        dueInMs: null,
        tries: row.tries,
        errorCode: reason,
        errorText: detail,
      },
      domain: { signal: 'good' },
    };
  }
  if (reason === 'challenge' || reason === 'access_denied' || reason === 'login_wall') {
    return {
      verdict: failed(row, reason, detail, reason),
      domain: { signal: 'refused', reason: blockReasonOf[reason] },
    };
  }
  // The site fails in words where others answer 500.
  if (reason === 'site_error')
    return {
      verdict: failed(row, reason, detail, 'max_retries'),
      domain: { signal: 'server_error', status: 500 },
    };
  return { verdict: dead(row, reason, detail), domain: { signal: 'good' } };
}

/**
 * An article's address that leads to a front page or a list instead: for good when the move is, else it is asked once more,
 * because some send everybody home while they are overrun.
 */
export function decideLedToListing(
  { url, isLasting }: { url: string; isLasting: boolean },
  row: RowFacts,
): Decision {
  const [code, text] = ['led_to_listing', `it leads to ${url}`];
  const verdict = isLasting
    ? dead(row, code, text)
    : failed({ ...row, maxTries: Math.min(2, row.maxTries) }, code, text, code);
  return { verdict, domain: { signal: 'neutral' } };
}

const maxPenaltyMs = 10 * minuteMs;
const goodRunToForgive = 10;

/** Politeness penalty after an answer: starts at the delay and doubles on "slow down", halves after ten good answers. */
export function decidePenalty(
  state: { penaltyMs: number; goodRun: number },
  delayMs: number,
  signal: DomainSignal['signal'],
): { penaltyMs: number; goodRun: number } {
  if (signal === 'slow_down') {
    const start = Math.max(delayMs, 100);
    return {
      penaltyMs: Math.min(maxPenaltyMs, state.penaltyMs === 0 ? start : state.penaltyMs * 2),
      goodRun: 0,
    };
  }
  if (signal !== 'good')
    return { penaltyMs: state.penaltyMs, goodRun: signal === 'neutral' ? state.goodRun : 0 };
  if (state.penaltyMs === 0) return { penaltyMs: 0, goodRun: 0 };
  const goodRun = state.goodRun + 1;
  if (goodRun < goodRunToForgive) return { penaltyMs: state.penaltyMs, goodRun };
  const halved = Math.floor(state.penaltyMs / 2);
  return { penaltyMs: halved < 100 ? 0 : halved, goodRun: 0 };
}
