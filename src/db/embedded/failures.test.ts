import { expect, test } from 'vitest';
import { AppError } from '../../errors/index.ts';
import { namedFailure, startFailure } from './failures.ts';

test.each([
  [
    'a full disk',
    'FATAL:  could not write to file "pg_wal/xlogtemp.1": No space left on device',
    'db_disk_full',
    6,
    /Free some space/,
  ],
  [
    'a quota',
    'initdb: error: could not create file: Disk quota exceeded',
    'db_disk_full',
    6,
    /Free some space/,
  ],
  [
    'no account',
    'initdb: error: could not look up effective user ID 4711: user does not exist',
    'db_start_failed',
    3,
    /\/etc\/passwd/,
  ],
  [
    'other data',
    'DETAIL:  The data directory was initialized by PostgreSQL version 17',
    'db_start_failed',
    3,
    /export/,
  ],
  [
    'a missing library',
    'postgres: error while loading shared libraries: libxml2.so.2',
    'db_start_failed',
    3,
    /library/,
  ],
  [
    'no memory',
    'FATAL:  could not map anonymous shared memory: Cannot allocate memory',
    'db_start_failed',
    3,
    /memory/,
  ],
  ['anything else', 'FATAL:  something new', 'db_start_failed', 3, /server\.log/],
  ['silence', '', 'db_start_failed', 3, /server\.log/],
])('%s gets its code and advice', (_what, output, code, exitCode, advice) => {
  const error = startFailure('It failed', `LOG:  before\n${output}\n`);
  expect(error).toMatchObject({ code, exitCode, advice: expect.stringMatching(advice) });
});

test('only the last lines of a long log are shown', () => {
  const error = startFailure('It failed', Array.from({ length: 500 }, (_, n) => `line ${n}`).join('\n'));
  expect(error.message).toContain('line 499');
  expect(error.message).not.toContain('line 487\n');
});

test.each([
  ['ENOSPC', 'db_disk_full'],
  ['EDQUOT', 'db_disk_full'],
  ['EACCES', 'db_start_failed'],
  ['EROFS', 'db_start_failed'],
])('%s of the file system becomes %s', (code, expected) => {
  const error = Object.assign(new Error('mkdir failed'), { code });
  expect(namedFailure(error)).toMatchObject({ code: expected, advice: expect.any(String), cause: error });
});

test('errors that are named already, or unknown, pass unchanged', () => {
  const named = new AppError('x', 'x');
  const unknown = new Error('bug');
  expect(namedFailure(named)).toBe(named);
  expect(namedFailure(unknown)).toBe(unknown);
});
