import { totalmem } from 'node:os';
import { expect, test } from 'vitest';
import { availableMemory, decideMemoryLimit, isMemoryShort, measureMemory } from './memory.ts';

const MB = 1024 * 1024;
const GB = 1024 * MB;

test.each([
  ['what is set holds, whatever there is', 300, 64 * GB, 8, 300 * MB],
  ['a role alone may have all', 0, 4 * GB, 0, 4 * GB],
  ['under up, fetchers and the rest share it', 0, 8 * GB, 1, 4 * GB],
  ['a share is never so small that usual work exceeds it', 0, 2 * GB, 8, 512 * MB],
  ['in a small container that is all of it', 0, 256 * MB, 3, 256 * MB],
])('%s', (_what, setMb, availableBytes, fetchers, limit) => {
  expect(decideMemoryLimit({ setMb, availableBytes, fetchers })).toBe(limit);
});

test('this process is measured, and the machine has more than it', () => {
  const available = availableMemory();
  expect(available).toBeGreaterThan(64 * MB);
  expect(available).toBeLessThanOrEqual(totalmem());
  const memory = measureMemory(1000 * GB);
  expect(memory.usedBytes).toBeGreaterThan(10 * MB);
  expect(isMemoryShort(memory)).toBe(false);
  expect(isMemoryShort({ ...memory, limitBytes: memory.usedBytes })).toBe(true);
});
