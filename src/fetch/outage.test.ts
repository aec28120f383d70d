import { describe, expect, it, test } from 'vitest';
import type { FailureKind, HttpResult } from './client/index.ts';
import { OutageWatch, reachOf } from './outage.ts';

const failed = (kind: FailureKind, detail: string): HttpResult => ({
  outcome: 'failed',
  kind,
  detail,
  timings: { startedAt: 0, headersAt: null, endedAt: 1 },
});

describe('who was heard', () => {
  it.each([
    ['dns', 'queryA ENOTFOUND nowhere.test', 'reached'],
    ['dns', 'queryA ENODATA nowhere.test', 'reached'],
    ['dns', 'queryA ESERVFAIL nowhere.test', 'failed'],
    ['dns', 'queryA ETIMEOUT nowhere.test', 'failed'],
    ['connect', 'connect ECONNREFUSED 192.0.2.1:80', 'reached'],
    ['connect', 'connect EHOSTUNREACH 192.0.2.1:80', 'failed'],
    ['connect', 'connect ENETUNREACH 192.0.2.1:80', 'failed'],
    ['timeout', 'no headers within 10000 ms', 'failed'],
    ['tls', 'certificate has expired', 'reached'],
    ['reset', 'ECONNRESET', 'reached'],
    ['body_too_large', 'more than 10 MB', 'reached'],
    ['aborted', 'the lease ended', null],
    ['refused_address', '10.0.0.1 is private', null],
  ] as const)('%s, %s: %s', (kind, detail, reach) => {
    expect(reachOf(failed(kind, detail))).toBe(reach);
  });
});

describe('an outage', () => {
  it('is suspected when six different domains fail and nobody answers in between', () => {
    const watch = new OutageWatch();
    for (let n = 1; n <= 5; n += 1) for (let time = 0; time < 3; time += 1) watch.note(BigInt(n), 'failed');
    expect(watch.isSuspected).toBe(false);
    watch.note(6n, 'failed');
    expect(watch.isSuspected).toBe(true);
  });

  it('ends with the first answer, from whomever', () => {
    const watch = new OutageWatch();
    for (let n = 1; n <= 9; n += 1) watch.note(BigInt(n), 'failed');
    watch.note(77n, 'reached');
    expect(watch.isSuspected).toBe(false);
    expect(watch.isSilent).toBe(false);
  });
});

test('failures that lie far apart are no outage', () => {
  let now = 0;
  const watch = new OutageWatch(() => now);
  for (let host = 1n; host <= 12n; host += 1n) {
    watch.note(host, 'failed');
    now += 61_000;
  }
  expect(watch.isSuspected).toBe(false);
  expect(watch.isSilent).toBe(true);
});

test('what is suspected stays so, however long nobody is asked', () => {
  let now = 0;
  const watch = new OutageWatch(() => now);
  for (let host = 1n; host <= 6n; host += 1n) watch.note(host, 'failed');
  now += 86_400_000;
  watch.note(7n, 'failed');
  expect(watch.isSuspected).toBe(true);
  watch.note(8n, 'reached');
  expect(watch.isSuspected).toBe(false);
});

test('after a check that found the network in order, dead hosts are dead for a while', () => {
  let now = 0;
  const watch = new OutageWatch(() => now);
  const failSix = (): void => {
    for (let host = 1n; host <= 6n; host += 1n) watch.note(host, 'failed');
  };
  failSix();
  watch.trust();
  expect(watch.isSuspected).toBe(false);
  failSix();
  expect(watch.isSuspected).toBe(false);
  now += 60_000;
  failSix();
  expect(watch.isSuspected).toBe(true);
});
