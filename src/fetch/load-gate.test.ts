import { expect, test } from 'vitest';
import { LoadGate } from './load-gate.ts';

/** A gate on a clock and a loop of our own. */
function gateOn(share: () => number): { gate: LoadGate; pass: (ms: number) => void } {
  let now = 0;
  const gate = new LoadGate(
    () => now,
    () => ({ idle: 0, active: 0, utilization: share() }),
  );
  return {
    gate,
    pass: (ms) => {
      now += ms;
    },
  };
}

test('a fetcher with time to spare takes all it may', () => {
  const { gate, pass } = gateOn(() => 0.5);
  pass(600);
  expect(gate.allow(50, 0)).toBe(50);
  expect(gate.allow(10, 40)).toBe(10);
});

test('a busy one keeps what it has and takes no more than it can work on', () => {
  const { gate, pass } = gateOn(() => 0.99);
  pass(600);
  expect(gate.allow(50, 0)).toBe(16);
  expect(gate.allow(4, 1)).toBe(4);
  expect(gate.allow(30, 20)).toBe(0);
});

test('it looks again, but not at every turn', () => {
  let share = 0.99;
  const { gate, pass } = gateOn(() => share);
  pass(600);
  expect(gate.allow(40, 20)).toBe(0);
  share = 0.3;
  pass(100);
  expect(gate.allow(40, 20)).toBe(0);
  pass(500);
  expect(gate.allow(40, 20)).toBe(40);
});
