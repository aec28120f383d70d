import { describe, expect, it } from 'vitest';
import type { Ladder } from '../frontier/index.ts';
import { ageLadder, decideLadder, goodStanding, type LadderSignal, type LadderStep } from './ladder.ts';

const refused: LadderSignal = { signal: 'refused', reason: 'forbidden' };
const good: LadderSignal = { signal: 'good' };
const unreached: LadderSignal = { signal: 'unreached' };
const minute = 60_000;

function climb(ladder: Ladder, ...signals: LadderSignal[]): { ladder: Ladder; next: LadderStep } {
  let at: { ladder: Ladder; next: LadderStep } = { ladder, next: { step: 'go_on' } };
  for (const signal of signals) at = decideLadder(at.ladder, signal);
  return at;
}
const times = (count: number, signal: LadderSignal): LadderSignal[] => Array(count).fill(signal);

describe('the circuit', () => {
  it('opens at the fifth refusal in a row and not before', () => {
    expect(climb(goodStanding, ...times(4, refused)).next).toEqual({ step: 'go_on' });
    expect(climb(goodStanding, ...times(5, refused)).next).toEqual({
      step: 'open',
      holdMs: 5 * minute,
      reason: 'forbidden',
    });
  });

  it('a success in between starts the count anew, a neutral answer does not', () => {
    expect(climb(goodStanding, ...times(4, refused), good, ...times(4, refused)).next.step).toBe('go_on');
    expect(climb(goodStanding, ...times(4, refused), { signal: 'neutral' }, refused).next.step).toBe('open');
  });

  it('opens again at the first refusal while half open', () => {
    const open = climb(goodStanding, ...times(5, refused)).ladder;
    expect(climb(open, refused).next.step).toBe('open');
    expect(climb(open, good, refused).next.step).toBe('open');
  });

  it('two successes close it', () => {
    const open = climb(goodStanding, ...times(5, refused)).ladder;
    expect(climb(open, good).ladder.circuitGood).toBe(1);
    expect(climb(open, good, good).ladder.circuitGood).toBeNull();
    expect(climb(open, good, good, ...times(4, refused)).next.step).toBe('go_on');
  });
});

describe('a block', () => {
  const open = (ladder: Ladder, reason: 'forbidden' | 'challenge' | 'rate_limited' = 'forbidden') =>
    climb(ladder, ...times(ladder.circuitGood === null ? 5 : 1, { signal: 'refused', reason }));

  it('follows the third opening in a day, by the commonest reason', () => {
    const first = open(goodStanding, 'challenge');
    const second = open(ageLadder(first.ladder, 6 * minute), 'forbidden');
    const third = open(ageLadder(second.ladder, 6 * minute), 'challenge');
    expect([first, second, third].map((one) => one.next.step)).toEqual(['open', 'open', 'block']);
    expect(third.next).toEqual({ step: 'block', reason: 'challenge' });
    expect(third.ladder).toEqual(goodStanding);
  });

  it('forgets openings of more than a day ago', () => {
    const first = open(goodStanding);
    const second = open(ageLadder(first.ladder, 23 * 60 * minute));
    const third = open(ageLadder(second.ladder, 2 * 60 * minute));
    expect(third.next.step).toBe('open');
    expect(open(ageLadder(third.ladder, minute)).next.step).toBe('block');
  });

  it('the opening says what most refusals were', () => {
    const signals: LadderSignal[] = [
      { signal: 'refused', reason: 'rate_limited' },
      { signal: 'refused', reason: 'rate_limited' },
      { signal: 'refused', reason: 'rate_limited' },
      refused,
      refused,
    ];
    expect(climb(goodStanding, ...signals).next).toMatchObject({ reason: 'rate_limited' });
  });
});

describe('failing to connect', () => {
  it('rests after five in a row over at least half an hour', () => {
    const soon = climb(goodStanding, ...times(20, unreached));
    expect(soon.next.step).toBe('go_on');
    expect(climb(ageLadder(soon.ladder, 29 * minute), unreached).next.step).toBe('go_on');
    expect(climb(ageLadder(soon.ladder, 30 * minute), unreached).next.step).toBe('unreachable');
    const few = climb(goodStanding, ...times(3, unreached));
    expect(climb(ageLadder(few.ladder, 60 * minute), unreached).next.step).toBe('go_on');
  });

  it('any answer ends it, a refusal too', () => {
    const failing = ageLadder(climb(goodStanding, ...times(9, unreached)).ladder, 60 * minute);
    expect(climb(failing, good, unreached).next.step).toBe('go_on');
    expect(climb(failing, refused, unreached).next.step).toBe('go_on');
  });
});
