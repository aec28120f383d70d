import type { Ladder } from '../frontier/index.ts';
import type { BlockReason } from './lifecycle.ts';

/** What an answer means for the ladder. */
export type LadderSignal =
  | { signal: 'good' }
  /** 401, 403, 429, 503, a challenge or a login page. */
  | { signal: 'refused'; reason: BlockReason }
  /** dns, connect or tls. */
  | { signal: 'unreached' }
  /** Says nothing: 404, 500, robots.txt, an unsupported type, a slow answer. */
  | { signal: 'neutral' };

/** What follows for the domain at once. */
export type LadderStep =
  | { step: 'go_on' }
  /** The circuit breaker tripped. */
  | { step: 'open'; holdMs: number; reason: BlockReason }
  | { step: 'block'; reason: BlockReason }
  | { step: 'unreachable' };

const minuteMs = 60_000;
const refusalsToOpen = 5;
const openMs = 5 * minuteMs;
const successesToClose = 2;
const opensToBlock = 3;
const opensWithinMs = 24 * 60 * minuteMs;
const failuresToRest = 5;
const failingForMs = 30 * minuteMs;

/** A domain in good standing. */
export const goodStanding: Ladder = {
  refusals: [],
  circuitGood: null,
  opens: [],
  networkFailures: 0,
  networkForMs: null,
};

/** The next rung: refusals in a row open the circuit, openings in a day block, failures to connect for half an hour rest. */
export function decideLadder(ladder: Ladder, signal: LadderSignal): { ladder: Ladder; next: LadderStep } {
  switch (signal.signal) {
    case 'neutral':
      return { ladder, next: { step: 'go_on' } };
    case 'good':
      return { ladder: recover(ladder), next: { step: 'go_on' } };
    case 'unreached':
      return decideUnreached(ladder);
    case 'refused':
      return decideRefused(ladder, signal.reason);
  }
}

function recover(ladder: Ladder): Ladder {
  const successes = ladder.circuitGood === null ? null : ladder.circuitGood + 1;
  return {
    ...ladder,
    refusals: [],
    circuitGood: successes === null || successes >= successesToClose ? null : successes,
    networkFailures: 0,
    networkForMs: null,
  };
}

function decideUnreached(ladder: Ladder): { ladder: Ladder; next: LadderStep } {
  const networkFailures = Math.min(ladder.networkFailures + 1, 1000);
  const networkForMs = ladder.networkForMs ?? 0;
  if (networkFailures >= failuresToRest && networkForMs >= failingForMs) {
    return { ladder: goodStanding, next: { step: 'unreachable' } };
  }
  return { ladder: { ...ladder, networkFailures, networkForMs }, next: { step: 'go_on' } };
}

function decideRefused(ladder: Ladder, reason: BlockReason): { ladder: Ladder; next: LadderStep } {
  const refusals = [...ladder.refusals, reason];
  // Half open: the one URL that was let through says whether anything has changed.
  if (ladder.circuitGood === null && refusals.length < refusalsToOpen) {
    return {
      ladder: { ...ladder, refusals, networkFailures: 0, networkForMs: null },
      next: { step: 'go_on' },
    };
  }
  const opens = [
    ...ladder.opens.filter((one) => one.ageMs < opensWithinMs),
    { ageMs: 0, reason: commonest(refusals) },
  ];
  if (opens.length >= opensToBlock) {
    const why = commonest(opens.map((one) => one.reason)) as BlockReason;
    return { ladder: goodStanding, next: { step: 'block', reason: why } };
  }
  return {
    ladder: { refusals: [], circuitGood: 0, opens, networkFailures: 0, networkForMs: null },
    next: { step: 'open', holdMs: openMs, reason: opens.at(-1)!.reason as BlockReason },
  };
}

/** The word that occurs most, the later one of equals. */
function commonest(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return words.reduceRight((best, word) => (counts.get(word)! > counts.get(best)! ? word : best));
}

/** The ladder after some time: ages grow. */
export function ageLadder(ladder: Ladder, byMs: number): Ladder {
  return {
    ...ladder,
    opens: ladder.opens.map((one) => ({ ...one, ageMs: one.ageMs + byMs })),
    networkForMs: ladder.networkForMs === null ? null : ladder.networkForMs + byMs,
  };
}
