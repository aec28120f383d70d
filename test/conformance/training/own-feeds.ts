// Makes a corpus of the conformance layout out of static sites: what a page is called, when it appeared and what it says
// is what the site's own feeds tell of it, so that no program's reading of the page is the reference.
//   node dist/test/conformance/training/own-feeds.js FOLDER OUT
// FOLDER has a folder of files for each site, as it is served; `fields.js OUT` scores titles and dates.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type FeedEntry, parseFeed } from '../../../src/feed-formats/index.ts';
import { parsePage, textOf } from '../../../src/html/index.ts';
import { decodeBytes } from '../../../src/text/index.ts';

const SET = 'feeds';
const PER_SITE = 8;
const FEEDS_PER_SITE = 12;
const IS_FEED = /(?:^|\/)(?:atom|rss2?|feed|index)\.xml$|(?:^|\/)feed\/index\.(?:html|xml)$/;
// Feeds of comments tell of none of the articles; by their links they are known in every language.
const IS_OF_COMMENTS = /comment|coment|kommentar/i;
const IS_COMMENT_LINK = /#comment-|#comment$/;
const MIN_CHARS = 250;

type Told = { url: string; title: string; date?: string; articleBody?: string };

/** What of an address names the page, however the site is mounted: the last two parts of its path, or the last. */
function namesOf(path: string): [string, string] {
  const parts = path
    .replace(/\/?(?:index\.html?)?$|\.html?$/i, '')
    .toLowerCase()
    .split('/')
    .filter((part) => part !== '');
  return [parts.slice(-2).join('/'), parts.at(-1) ?? ''];
}

const unescapePath = (path: string): string =>
  path.replace(/(?:%[\da-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'),
  );

/** The pages of a site by their names; two of one name are none. */
function pagesOf(files: readonly string[]): Map<string, string | null> {
  const pages = new Map<string, string | null>();
  for (const file of files)
    if (/\.html?$/i.test(file))
      for (const name of new Set(namesOf(file))) pages.set(name, pages.has(name) ? null : file);
  return pages;
}

/** The entries of a site's feeds, those of its first feed first. */
function* entriesOf(folder: string, files: readonly string[]): Generator<FeedEntry, undefined> {
  const feeds = files.filter((file) => IS_FEED.test(file) && !IS_OF_COMMENTS.test(file));
  for (const file of feeds.sort((a, b) => a.length - b.length).slice(0, FEEDS_PER_SITE)) {
    const read = parseFeed(readFileSync(join(folder, file)));
    if (read.outcome === 'feed' && !IS_OF_COMMENTS.test(read.feed.title ?? '')) yield* read.feed.entries;
  }
  return undefined;
}

/** The address of an entry, also where the site was written out for any host. */
function addressOf(link: string | null | undefined, site: string): string | null {
  if (!link || IS_COMMENT_LINK.test(link)) return null;
  const base = `http://${site.toLowerCase().replace(/[^a-z\d]+/g, '-')}.test/`;
  return URL.canParse(link, base) ? new URL(link, base).href : null;
}

const plain = (html: string): string =>
  textOf(parsePage(`<p>${html}</p>`, { url: 'http://a.test/' }).body, 1_000_000);

function tell(entry: FeedEntry, url: string): Told | null {
  const title = plain(entry.title ?? '');
  const articleBody = plain(entry.content ?? '');
  if (title === '') return null;
  const date = entry.published?.toISOString().slice(0, 10);
  return { url, title, ...(date && { date }), ...(articleBody.length >= MIN_CHARS && { articleBody }) };
}

const [root, out] = process.argv.slice(2);
if (root === undefined || out === undefined) throw new Error('usage: own-feeds.js FOLDER OUT');
const at = join(out, 'articles', SET);
mkdirSync(join(at, 'pages'), { recursive: true });
const truth: Record<string, Told> = {};
let sites = 0;
for (const site of readdirSync(root)) {
  const folder = join(root, site);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'));
  const pages = pagesOf(files);
  let taken = 0;
  for (const entry of entriesOf(folder, files)) {
    const link = addressOf(entry.link, site);
    if (taken === PER_SITE) break;
    if (link === null || Object.values(truth).some(({ url }) => url === link)) continue;
    const [name, last] = namesOf(unescapePath(new URL(link).pathname));
    const file = pages.get(name) ?? pages.get(last);
    const told = file ? tell(entry, link) : null;
    if (!file || told === null) continue;
    const id = `${site}-${taken++}`;
    const html = decodeBytes(readFileSync(join(folder, file)), { kind: 'html' }).text;
    writeFileSync(join(at, 'pages', `${id}.html.gz`), gzipSync(html));
    truth[id] = told;
  }
  if (taken > 0) sites++;
}
writeFileSync(join(at, 'truth.json'), JSON.stringify(truth));
console.log(`${SET}: ${Object.keys(truth).length} pages of ${sites} sites`);
