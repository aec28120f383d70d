import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withLock } from './lock.ts';
import { isAlive, nonceOf, ticketOf, ticketOfSelf } from './process-identity.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'outrider-lock-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const dead = (nonce: string): string => `${process.pid}/another.start/${nonce}`;

test('holders come one after the other', async () => {
  let inside = 0;
  let most = 0;
  const runs = Array.from({ length: 20 }, () =>
    withLock(join(dir, 'lock'), async () => {
      inside += 1;
      most = Math.max(most, inside);
      await turn();
      inside -= 1;
    }),
  );
  await Promise.all(runs);
  expect(most).toBe(1);
  expect(readdirSync(dir)).toEqual([]);
});

test('a dead holder, and one that died while clearing it, block nobody and let nobody in twice', async () => {
  symlinkSync(dead('aa'), join(dir, 'lock'));
  symlinkSync(dead('bb'), join(dir, 'lock.aa'));
  symlinkSync(dead('cc'), join(dir, 'lock.aa.bb'));
  let inside = 0;
  const runs = Array.from({ length: 20 }, () =>
    withLock(join(dir, 'lock'), async () => {
      expect(inside).toBe(0);
      inside += 1;
      await turn();
      inside -= 1;
    }),
  );
  await Promise.all(runs);
  expect(readdirSync(dir)).toEqual([]);
});

test('the lock is given back when the work fails', async () => {
  await expect(withLock(join(dir, 'lock'), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withLock(join(dir, 'lock'), async () => 1)).toBe(1);
});

test('a process is its pid and its start', () => {
  const self = ticketOfSelf();
  expect(isAlive(self)).toBe(true);
  expect(ticketOfSelf()).not.toBe(self);
  expect(nonceOf(self)).toMatch(/^[0-9a-f]{16}$/);
  expect(isAlive(ticketOf(process.pid))).toBe(true);
  expect(isAlive(dead('aa'))).toBe(false);
  for (const nonsense of ['', '/', '1', 'x/y/z', '-1/a/b', `${'9'.repeat(400)}/a/b`])
    expect(isAlive(nonsense)).toBe(false);
});
