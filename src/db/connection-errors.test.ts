import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isConnectionLost, isPassing } from './connection-errors.ts';

const nowhere = join(tmpdir(), 'outrider-no-such-thing', 'x');

test('a socket that is not there is a database that is away', async () => {
  const error = await new Promise((resolve) => connect(nowhere).once('error', resolve));
  expect(error).toMatchObject({ code: 'ENOENT' });
  expect([isConnectionLost(error), isPassing(error)]).toEqual([true, true]);
});

test('a file that is not there says nothing of the database', () => {
  let error: unknown;
  try {
    readFileSync(nowhere);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ code: 'ENOENT' });
  expect([isConnectionLost(error), isPassing(error)]).toEqual([false, false]);
});
