import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const entry = fileURLToPath(new URL('../../dist/test/conformance/main.js', import.meta.url));
let empty: string;

beforeAll(() => {
  if (!existsSync(entry)) throw new Error('run npm run build first: process tests run from dist/');
  empty = mkdtempSync(join(tmpdir(), 'outrider-corpus-'));
});
afterAll(() => rmSync(empty, { recursive: true, force: true }));

const run = (...args: string[]) => spawnSync(process.execPath, [entry, ...args], { encoding: 'utf8' });

test.each([[[]], [['--json']], [['--check']]])('a corpus that is not there is no success: %j', (flags) => {
  const { status, stdout, stderr } = run('--corpus', join(empty, 'typo'), ...flags);
  expect(stderr).toContain('no corpus at');
  expect([status, stdout]).toEqual([2, '']);
});

test('floors are not kept by a folder in which there is nothing to score', () => {
  const { status, stdout, stderr } = run('--corpus', empty, '--json', '--check');
  expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toEqual({});
  expect(stderr).toContain('could be scored');
  expect(status).toBe(1);
  expect(run('--corpus', empty, '--json').status).toBe(0);
});
