import { describe, expect, it } from 'vitest';
import type { AccessRecord } from './index.ts';
import {
  findForbiddenRequests,
  findPolitenessViolations,
  findRepeatedFetches,
  makePublishers,
} from './index.ts';

const [publisher] = makePublishers({
  seed: 1,
  count: 1,
  changes: [{ domain: 'one.test', host: 'one.test' }],
});
const publishers = publisher === undefined ? [] : [publisher];
let seq = 0;

function record(startedAtMs: number, change: Partial<AccessRecord> = {}): AccessRecord {
  return {
    seq: seq++,
    host: 'one.test',
    path: '/a',
    method: 'GET',
    userAgent: 'Outrider/1',
    conditional: false,
    startedAtMs,
    headersSentAtMs: startedAtMs + 10,
    endedAtMs: startedAtMs + 20,
    status: 200,
    bytes: 100,
    aborted: false,
    ...change,
  };
}

describe('findPolitenessViolations', () => {
  const delayMs = () => 1_000;
  const cases: [string, AccessRecord[], number][] = [
    ['in time', [record(0), record(1_010)], 0],
    ['early after the headers', [record(0), record(1_009)], 1],
    ['www and apex share the delay', [record(0), record(500, { host: 'www.one.test' })], 1],
    ['other domains do not matter', [record(0), record(5, { host: 'two.test' })], 0],
    ['overlapping', [record(0, { headersSentAtMs: 2_000 }), record(1_500)], 1],
    [
      'a failure counts from its end',
      [record(0, { headersSentAtMs: -1, endedAtMs: 900, status: 0 }), record(1_500)],
      1,
    ],
    ['a failure in time', [record(0, { headersSentAtMs: -1, endedAtMs: 900, status: 0 }), record(1_900)], 0],
    ['still open', [record(0, { headersSentAtMs: -1, endedAtMs: -1, status: 0 }), record(9_999)], 1],
    [
      'a slow answer outlasts a quick one',
      [record(0, { headersSentAtMs: 5_000 }), record(1_000), record(5_500)],
      2,
    ],
    ['the order of the log does not matter', [record(1_009), record(0)], 1],
  ];
  it.each(cases)('%s', (_name, log, count) => {
    expect(findPolitenessViolations(log, { delayMs })).toHaveLength(count);
  });

  it('takes the delay of each domain and a tolerance', () => {
    const log = [record(0), record(1_009)];
    expect(
      findPolitenessViolations(log, { delayMs: (domain) => (domain === 'one.test' ? 2_000 : 0) }),
    ).toHaveLength(1);
    expect(findPolitenessViolations(log, { delayMs, toleranceMs: 2 })).toHaveLength(0);
  });
});

describe('findForbiddenRequests', () => {
  const options = { publishers, token: 'Outrider' };
  const robots = (at: number, status = 200) => record(at, { path: '/robots.txt', status });
  const cases: [string, AccessRecord[], string[]][] = [
    ['allowed after robots.txt', [robots(0), record(100)], []],
    ['before robots.txt', [record(0), robots(100)], ['before_robots']],
    ['while robots.txt is under way', [robots(0), record(5)], ['before_robots']],
    ['another host’s robots.txt', [robots(0), record(100, { host: 'www.one.test' })], ['before_robots']],
    ['robots.txt in error', [robots(0, 503), record(100)], ['before_robots']],
    ['robots.txt missing', [robots(0, 404), record(100)], []],
    ['disallowed', [robots(0), record(100, { path: '/private/drafts' })], ['disallowed']],
    ['not our publisher', [record(0, { host: 'else.test' })], []],
  ];
  it.each(cases)('%s', (_name, log, why) => {
    expect(findForbiddenRequests(log, options).map((one) => one.why)).toEqual(why);
  });
});

describe('findRepeatedFetches', () => {
  it('finds whole answers given twice, not retries nor conditional requests', () => {
    const log = [
      record(0),
      record(1, { path: '/b', status: 503 }),
      record(2, { path: '/b' }),
      record(3, { path: '/c' }),
      record(4, { path: '/c', conditional: true }),
      record(5),
    ];
    expect(findRepeatedFetches(log).map((one) => one.url)).toEqual(['http://one.test/a']);
    expect(findRepeatedFetches(log, { isArticle: (_host, path) => path !== '/a' })).toEqual([]);
  });
});
