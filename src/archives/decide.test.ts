import { describe, expect, it } from 'vitest';
import { decideLook, judgeKnown, judgePage, judgeSitemap, judgeUnasked } from './decide.ts';
import type { ArchiveDomain } from './memory.ts';
import type { PageRow } from './rows.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const domain = (change: Partial<ArchiveDomain> = {}): ArchiveDomain => ({
  bucket: 1,
  domainKey: 1n,
  name: 'paper.test',
  sourceId: 1,
  isSeeded: false,
  entryUrl: null,
  status: 'active',
  isCrawled: true,
  restedMs: hourMs,
  budgetMs: null,
  pending: 0,
  now: new Date(),
  ...change,
});

describe('a domain is looked at', () => {
  it.each([
    ['when it has little to do', {}, true],
    ['when it has little to do, though a bit', { pending: 19 }, true],
    ['not when it has enough', { pending: 20 }, false],
    ['when a day has passed, whatever waits', { pending: 20, restedMs: dayMs }, true],
    ['not while it rests', { status: 'blocked' }, false],
    ['not while it cannot be reached', { status: 'unreachable' }, false],
    ['not before its first page', { isCrawled: false }, false],
    ['not while its budget is used up', { budgetMs: 5 * hourMs }, false],
  ])('%s', (_words, change, look) => {
    expect(decideLook(domain(change)).look).toBe(look);
  });
  it('again when its budget renews, and seldom while it waits for its first turn', () => {
    expect(decideLook(domain({ budgetMs: 5 * hourMs }))).toMatchObject({ inMs: 5 * hourMs });
    expect(decideLook(domain({ isCrawled: false, sourceId: null }))).toMatchObject({ inMs: dayMs });
  });
});

describe('a page', () => {
  const row = (status: string, change: Partial<PageRow> = {}): PageRow => ({
    status,
    errorCode: null,
    redirectedTo: null,
    ...change,
  });
  it.each([
    [row('fetched'), 0, 'worked', null],
    [row('dead', { errorCode: 'not_found' }), 0, 'failed', 'not_found'],
    [row('dead', { errorCode: 'robots_blocked' }), 0, 'failed', 'robots_blocked'],
    [row('redirected', { redirectedTo: 'https://paper.test/' }), 0, 'failed', 'it leads to the front page'],
    [
      row('redirected', { redirectedTo: 'https://paper.test/?from=a' }),
      0,
      'failed',
      'it leads to the front page',
    ],
    [
      row('redirected', { redirectedTo: 'https://paper.test/all' }),
      0,
      'worked',
      'it leads to https://paper.test/all',
    ],
    [row('failed', { errorCode: 'timeout' }), 8 * dayMs, 'failed', 'timeout'],
    [row('pending'), 8 * dayMs, 'failed', 'no answer in a week'],
  ])('%o', (given, ageMs, state, detail) => {
    expect(judgePage(given, ageMs)).toMatchObject({ state, detail });
  });
  it('that waits has not ended', () => {
    expect(judgePage(row('pending'), dayMs)).toBeNull();
    expect(judgePage(row('failed', { errorCode: 'timeout' }), dayMs)).toBeNull();
  });
  it('that was known is not asked, and counts as what it is', () => {
    expect(judgeKnown(row('fetched')).state).toBe('known');
    expect(judgeKnown(row('pending')).state).toBe('known');
    expect(judgeKnown(row('dead', { errorCode: 'gone' })).state).toBe('failed');
  });
});

describe('a sitemap', () => {
  const poll = (errorKind: string | null, errorsInRow = 1) => ({ isRead: false, errorKind, errorsInRow });
  it('that was read is a channel and not thought of again', () => {
    expect(judgeSitemap({ ...poll(null), isRead: true }, 0)).toEqual({
      state: 'worked',
      detail: null,
      againMs: null,
    });
  });
  it.each(['404', '410', 'parse', '403'])('that answers %s has failed', (kind) => {
    expect(judgeSitemap(poll(kind), 0)).toMatchObject({ state: 'failed', detail: kind });
  });
  it('in passing trouble is waited for, three polls or a week', () => {
    expect(judgeSitemap(poll('5xx'), 0)).toBeNull();
    expect(judgeSitemap(poll(null, 0), 0)).toBeNull();
    expect(judgeSitemap(poll('5xx', 3), 0)).toMatchObject({ state: 'failed' });
    expect(judgeSitemap(poll(null, 0), 8 * dayMs)).toMatchObject({ state: 'failed' });
  });
});

describe('a place without a row', () => {
  it('is asked now, unless nobody is left to ask it for', () => {
    expect(judgeUnasked('page', false, hourMs)).toBeNull();
    expect(judgeUnasked('sitemap', true, hourMs)).toBeNull();
    expect(judgeUnasked('sitemap', false, hourMs)).toMatchObject({ detail: 'its source is gone' });
    expect(judgeUnasked('page', true, 8 * dayMs)).toMatchObject({ state: 'failed' });
  });
});
