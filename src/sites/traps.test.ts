import { describe, expect, it } from 'vitest';
import { prefixesOf, Traps } from './traps.ts';

it.each([
  ['/', []],
  ['/calendar/2026/01', ['/calendar/', '/calendar/{n}/', '/calendar/{n}/{n}/']],
  ['/news/why-the-sea-is-salt', ['/news/']],
  ['/why-the-sea-is-salt', []],
  ['/browse?sid=ab1', ['/browse/', '/browse?']],
  ['/?sid=ab1', ['/?']],
  ['/a/b/c/d/e', ['/a/', '/a/b/', '/a/b/c/']],
])('the prefixes of %s', (path, prefixes) => {
  expect(prefixesOf(`https://a.test${path}`)).toEqual(prefixes);
});

const barren = { content: false, news: false };
const known = { content: true, news: false };
const fresh = { content: true, news: true };
const at = (path: string): string => `https://a.test${path}`;

/** Reads pages and answers after which one a cap came. */
function read(traps: Traps, pages: readonly string[], result = barren): number | null {
  for (const [index, path] of pages.entries())
    if (traps.learn(at(path), result, 0).length > 0) return index + 1;
  return null;
}

describe('a path that gives nothing', () => {
  it('is cut off when two pages of each of its shapes were read', () => {
    const traps = new Traps();
    for (const path of ['/calendar/2026/01', '/calendar/2026/01/01']) traps.noteLink(at(path));
    expect(read(traps, ['/calendar/2026/01', '/calendar/2026/02', '/calendar/2026/03'])).toBeNull();
    expect(traps.shouldWait(at('/calendar/2026/04'))).toBe(true);
    expect(traps.shouldWait(at('/calendar/2026/04/01'))).toBe(false);
    expect(read(traps, ['/calendar/2026/01/01', '/calendar/2026/01/02'])).toBe(2);
    expect(traps.capOf(at('/calendar/1999/12/31'))).toEqual({
      prefix: '/calendar/',
      reason: '5 pages and no content',
      atMs: 0,
    });
    expect(traps.capOf(at('/calendars'))).toBeNull();
  });

  it('is cut off after six pages whatever shapes it has', () => {
    const traps = new Traps();
    const deeper = Array.from({ length: 9 }, (_, n) => `/topics/${'more/'.repeat(n)}`);
    for (const path of deeper) traps.noteLink(at(path));
    expect(read(traps, deeper)).toBe(6);
  });

  it('with parameters: after three', () => {
    const traps = new Traps();
    expect(read(traps, ['/c?a=1', '/c?b=2', '/c?a=1&b=3', '/c?d=1'])).toBe(3);
  });
});

describe('what is no trap', () => {
  it('years without articles whose months have some', () => {
    const traps = new Traps();
    for (const path of ['/archive/2020', '/archive/2021', '/archive/2020/01']) traps.noteLink(at(path));
    expect(read(traps, ['/archive/2020', '/archive/2021'])).toBeNull();
    expect(traps.shouldWait(at('/archive/2022'))).toBe(true);
    expect(read(traps, ['/archive/2020/01'], fresh)).toBeNull();
    expect(traps.shouldWait(at('/archive/2022'))).toBe(false);
    expect(read(traps, ['/archive/2022', '/archive/2023', '/archive/2024', '/archive/2025'])).toBeNull();
  });

  it('listings that show known articles', () => {
    const traps = new Traps();
    const pages = Array.from({ length: 60 }, (_, n) => `/tag/t${n}`);
    expect(read(traps, pages, known)).toBeNull();
  });

  it('a path that once had content, for a long time', () => {
    const traps = new Traps();
    read(traps, ['/x/some-name'], fresh);
    expect(
      read(
        traps,
        Array.from(
          { length: 50 },
          (_, n) => `/x/${String.fromCharCode(97 + (n % 25), 97 + Math.floor(n / 25))}`,
        ),
      ),
    ).toBe(40);
  });
});

it('parameters that show the same articles in another order end after a while', () => {
  const traps = new Traps();
  read(traps, ['/news?sort=a1'], fresh);
  expect(
    read(
      traps,
      Array.from({ length: 20 }, (_, n) => `/news?sort=b${n}`),
      known,
    ),
  ).toBe(12);
});

it('hands over whole rows that changed', () => {
  const traps = new Traps();
  read(traps, ['/c?a=1']);
  const changes = traps.takeChanges();
  expect(changes.map(([prefix, one]) => [prefix, one.pages, one.barren])).toEqual([
    ['/c/', 1, 1],
    ['/c?', 1, 1],
  ]);
  expect(traps.takeChanges()).toEqual([]);
  traps.putBack(changes);
  expect(traps.takeChanges()).toHaveLength(2);
});
