import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Outrider, runOutrider } from '../process/outrider.ts';

let home: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'outrider-cli-'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('the demo stops by itself and its last line is the result', async () => {
  const { code, stdout, stderr } = await runOutrider(
    ['demo', '--seconds', '15', '--publishers', '8', '--json'],
    {
      home,
      env: { TMPDIR: home },
    },
  );
  const result = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Record<string, number>;
  expect(Object.keys(result)).toEqual([
    'sources',
    'channels',
    'submitted',
    'duplicates',
    'pending',
    'fetched',
    'redirected',
    'duplicateText',
    'failed',
    'dead',
    'needsRender',
    'documents',
    'robotsBlocked',
    'politenessViolations',
    'lost',
  ]);
  expect(result).toMatchObject({ sources: 8, politenessViolations: 0, lost: 0 });
  const { submitted, pending, fetched, redirected, duplicateText, failed, dead, needsRender } = result;
  expect(submitted).toBe(pending! + fetched! + redirected! + duplicateText! + failed! + dead! + needsRender!);
  expect(stderr).toContain('Nothing leaves this machine');
  expect(code, stderr).toBe(0);
  expect(readdirSync(home).filter((name) => name.startsWith('outrider-demo-'))).toEqual([]);
});

test('Ctrl-C ends the demo early, with its result', async () => {
  const demo = new Outrider(['demo', '--publishers', '3', '--json'], { home, env: { TMPDIR: home } });
  await demo.says('  article  ');
  const { code, stdout, stderr } = await demo.stop('SIGINT');
  expect(code, stderr).toBe(0);
  const result = JSON.parse(stdout) as Record<string, number>;
  expect(result).toMatchObject({ sources: 3, lost: 0, politenessViolations: 0 });
  // An article was shown before the stop, however slow the machine.
  expect(result.documents).toBeGreaterThan(0);
  expect(result.channels).toBeGreaterThan(0);
  expect(readdirSync(home).filter((name) => name.startsWith('outrider-demo-'))).toEqual([]);
});
