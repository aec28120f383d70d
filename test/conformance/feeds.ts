import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Parser } from 'htmlparser2';
import { type FeedEntry, parseFeed } from '../../src/feed-formats/index.ts';
import { attempt, hrefOf, loadJson, type Part } from './part.ts';

type FeedCase = {
  file: string;
  entries: number;
  link?: string;
  title?: string;
  published?: string;
  links?: string[];
  dates?: string[];
  headers?: Record<string, string>;
};

/** Feeds: a file is right when the number of its entries and everything stated about them is; files with entries count twice. */
export const feeds: Part = {
  name: 'feeds',
  async run(corpusDir, options) {
    const folder = join(corpusDir, 'formats', 'feeds');
    const cases = loadJson<FeedCase[]>(folder, 'expectations.json');
    if (cases === null) return null;
    options.progress(`feeds: ${cases.length} files`);
    const score = { files: cases.length, right: 0, entryFiles: 0, entryRight: 0, threw: 0 };
    for (const one of cases) {
      const bytes = readFileSync(join(folder, 'files', one.file));
      const result = await attempt(() => parseFeed(bytes, optionsOf(one)));
      if ('threw' in result) score.threw += 1;
      const entries = 'value' in result && result.value.outcome === 'feed' ? result.value.feed.entries : [];
      const facts: Fact[] = [
        { name: 'entries', expected: one.entries, got: 'value' in result ? entries.length : result.threw },
        ...factsOf(one, entries),
      ];
      const wrong = facts.filter((fact) => JSON.stringify(fact.expected) !== JSON.stringify(fact.got));
      for (const { name, expected, got } of wrong)
        options.fail({ part: 'feeds', case: `${one.file} ${name}`, expected, got });
      if (wrong.length === 0) score.right += 1;
      if (one.entries === 0) continue;
      score.entryFiles += 1;
      if (wrong.length === 0) score.entryRight += 1;
    }
    return { feeds: score };
  },
};

function optionsOf(one: FeedCase): { url?: string; contentType?: string } {
  const headers = new Map(
    Object.entries(one.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const url = headers.get('content-location');
  const contentType = headers.get('content-type');
  return { ...(url === undefined ? {} : { url }), ...(contentType === undefined ? {} : { contentType }) };
}

type Fact = { name: string; expected: unknown; got: unknown };

function factsOf(one: FeedCase, entries: readonly FeedEntry[]): Fact[] {
  const first = entries[0];
  const facts: Fact[] = [];
  if (one.link !== undefined) facts.push({ name: 'link', expected: hrefOf(one.link), got: linkOf(first) });
  if (one.title !== undefined)
    facts.push({ name: 'title', expected: plainText(one.title), got: plainText(first?.title ?? '') });
  if (one.published !== undefined)
    facts.push({ name: 'published', expected: secondsOf(one.published), got: dateOf(first) });
  if (one.links !== undefined)
    facts.push({ name: 'links', expected: one.links.map(hrefOf), got: entries.map(linkOf) });
  if (one.dates !== undefined)
    facts.push({ name: 'dates', expected: one.dates.map(secondsOf), got: entries.map(dateOf) });
  return facts;
}

function linkOf(entry: FeedEntry | undefined): string | null {
  return entry?.link == null ? null : hrefOf(entry.link);
}

function dateOf(entry: FeedEntry | undefined): number | null {
  const date = entry?.published ?? entry?.updated ?? null;
  return date === null ? null : Math.floor(date.getTime() / 1000);
}

function secondsOf(text: string): number {
  return Math.floor(new Date(text).getTime() / 1000);
}

/** Titles compare as the corpus asks: tags stripped, entities decoded twice, white space collapsed. */
function plainText(text: string): string {
  const stripped = text.replace(/<[^>]*>/g, '');
  return decodeHtml(decodeHtml(stripped)).replace(/\s+/g, ' ').trim();
}

function decodeHtml(text: string): string {
  let decoded = '';
  const parser = new Parser({
    ontext: (piece) => {
      decoded += piece;
    },
  });
  parser.end(text.replaceAll('<', '&lt;'));
  return decoded;
}
