import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSitemap, type SitemapResult } from '../../src/feed-formats/sitemap/index.ts';
import { attempt, hrefOf, loadJson, type Part } from './part.ts';

type SitemapCase = {
  file: string;
  kind: SitemapResult['kind'];
  locs?: string[];
  locCount?: number;
  minLocs?: number;
  contains?: string[];
  entries?: { loc: string; lastmod?: string; changefreq?: string; priority?: number | string }[];
  news?: { loc: string; title?: string; date?: string; name?: string; language?: string }[];
  base?: string;
};

/** Sitemaps of every form. */
export const sitemaps: Part = {
  name: 'sitemaps',
  async run(corpusDir, options) {
    const folder = join(corpusDir, 'formats', 'sitemaps');
    const cases = loadJson<SitemapCase[]>(folder, 'expectations.json');
    if (cases === null) return null;
    options.progress(`sitemaps: ${cases.length} files`);
    let right = 0;
    for (const one of cases) {
      const bytes = readFileSync(join(folder, 'files', one.file));
      const result = await attempt(() =>
        parseSitemap(bytes, one.base === undefined ? {} : { url: one.base }),
      );
      const problem =
        'threw' in result ? { expected: 'no exception', got: result.threw } : problemOf(one, result.value);
      if (problem === null) right += 1;
      else options.fail({ part: 'sitemaps', case: one.file, ...problem });
    }
    return { sitemaps: { files: cases.length, right } };
  },
};

type Problem = { expected: unknown; got: unknown } | null;

function problemOf(one: SitemapCase, result: SitemapResult): Problem {
  const locs = result.entries.map((entry) => hrefOf(entry.loc));
  // "Not a sitemap" may be said, or shown by finding nothing in it.
  if (one.kind === 'error')
    return locs.length === 0 ? null : { expected: 'no addresses', got: locs.slice(0, 10) };
  if (result.kind !== one.kind) return { expected: one.kind, got: result.kind };
  return locProblem(one, locs) ?? entryProblem(one, result) ?? newsProblem(one, result);
}

function locProblem(one: SitemapCase, locs: readonly string[]): Problem {
  const expected = one.locs?.map(hrefOf);
  if (expected !== undefined && !same(expected, locs)) return { expected, got: locs.slice(0, 100) };
  if (one.locCount !== undefined && one.locCount !== locs.length)
    return { expected: `${one.locCount} addresses`, got: locs.length };
  if (one.minLocs !== undefined && locs.length < one.minLocs)
    return { expected: `at least ${one.minLocs} addresses`, got: locs.length };
  const missing = one.contains?.map(hrefOf).filter((loc) => !locs.includes(loc)) ?? [];
  return missing.length > 0 ? { expected: missing, got: 'missing' } : null;
}

function entryProblem(one: SitemapCase, result: SitemapResult): Problem {
  if (one.entries === undefined) return null;
  const expected = one.entries.map((entry) => ({
    loc: hrefOf(entry.loc),
    lastmod: entry.lastmod === undefined ? null : secondsOf(new Date(entry.lastmod)),
    ...(entry.changefreq === undefined ? {} : { changefreq: entry.changefreq }),
    ...(entry.priority === undefined ? {} : { priority: Number(entry.priority) }),
  }));
  const got = result.entries.map((entry, index) => ({
    loc: hrefOf(entry.loc),
    lastmod: secondsOf(entry.lastModified),
    ...(one.entries?.[index]?.changefreq === undefined ? {} : { changefreq: entry.changeFrequency }),
    ...(one.entries?.[index]?.priority === undefined ? {} : { priority: entry.priority }),
  }));
  return same(expected, got) ? null : { expected, got };
}

function newsProblem(one: SitemapCase, result: SitemapResult): Problem {
  for (const expected of one.news ?? []) {
    const found = result.entries.find((entry) => hrefOf(entry.loc) === hrefOf(expected.loc))?.news ?? null;
    const got = {
      title: found?.title,
      date: secondsOf(found?.publicationDate ?? null),
      name: found?.name,
      language: found?.language,
    };
    const isRight =
      (expected.title === undefined || expected.title === got.title) &&
      (expected.date === undefined || secondsOf(new Date(expected.date)) === got.date) &&
      (expected.name === undefined || expected.name === got.name) &&
      (expected.language === undefined || expected.language === got.language);
    if (!isRight) return { expected, got };
  }
  return null;
}

function secondsOf(date: Date | null): number | null {
  return date === null || Number.isNaN(date.getTime()) ? null : Math.floor(date.getTime() / 1000);
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
