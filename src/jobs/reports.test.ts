import { describe, expect, test } from 'vitest';
import { isIndexed, isPage, lineOf, type Report } from './reports.ts';

const report = (change: Partial<Report>): Report => ({
  what: 'request',
  at: new Date(0),
  kind: 'article',
  status: 200,
  outcome: 'response',
  url: 'https://paper.example/a',
  totalMs: 12,
  bytes: 3400n,
  title: null,
  words: null,
  ...change,
});

describe('a line', () => {
  test.each([
    ['a page', {}, ['fetch info 200 article https://paper.example/a (3400 bytes, 12 ms)']],
    ['an error', { status: 500 }, ['fetch warn 500 article https://paper.example/a (3400 bytes, 12 ms)']],
    [
      'a wish to slow down',
      { status: 429 },
      [
        'fetch warn 429 article https://paper.example/a (3400 bytes, 12 ms)',
        'rate_limit warn asked to slow down by https://paper.example/a',
      ],
    ],
    ['no answer', { status: null, outcome: 'timeout' }, ['error warn timeout https://paper.example/a']],
    [
      'a document',
      { what: 'document', outcome: 'new', title: 'A story', words: 700 },
      ['extract info new: A story (700 words)'],
    ],
    [
      'a rest',
      { what: 'hold', kind: 'retry_after', outcome: null, totalMs: 30_000 },
      ['rate_limit warn the domain rests for 30 s (retry after)'],
    ],
  ] as const)('of %s', (_what, change, expected) => {
    const lines = lineOf(report(change));
    expect(lines.map(({ category, level, message }) => `${category} ${level} ${message}`)).toEqual(expected);
    // A detail is JSON, which knows no bigint.
    expect(() => JSON.stringify(lines)).not.toThrow();
  });
});

test.each([
  [{}, true],
  [{ status: 304, outcome: 'not_modified' }, true],
  [{ status: 404 }, true],
  [{ status: 301, outcome: 'redirect' }, false],
  [{ status: null, outcome: 'dns' }, false],
  [{ what: 'document' as const }, false],
])('%j counts as a page: %s', (change, expected) => {
  expect(isPage(report(change))).toBe(expected);
});

test.each([
  ['new', true],
  ['changed', true],
  ['unchanged', false],
  ['duplicate', false],
])('a document that is %s counts as indexed: %s', (outcome, expected) => {
  expect(isIndexed(report({ what: 'document', outcome }))).toBe(expected);
});
