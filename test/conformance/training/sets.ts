// Makes further material to learn from out of public collections of pages with reference texts:
//   node dist/test/conformance/training/sets.js NAME FOLDER OUT
// NAME is one of those below and FOLDER a checkout of the repository it is read from; OUT is a corpus of the conformance
// layout. The model in src/extract/model.ts has learnt from all four beside the two benchmarks (docs/decisions/0020).
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { getDomain } from 'tldts';
import { attribute, nextNode, parsePage, TEXT, textOf } from '../../../src/html/index.ts';
import { decodeBytes } from '../../../src/text/index.ts';

type Found = { id: string; url: string; html: string; articleBody: string };
type Collection = { read: (folder: string) => Iterable<Found>; perSite: number; leastFound: number };

const COLLECTIONS: Record<string, Collection> = {
  // github.com/flairNLP/fundus: pages of newspapers, with the texts its hand-written parsers give.
  newspapers: { read: readNewspapers, perSite: Number.POSITIVE_INFINITY, leastFound: 0.6 },
  // github.com/rundimeco/waddle: news in Greek, English, Polish, Russian and Chinese.
  languages: { read: readLanguages, perSite: 4, leastFound: 0.85 },
  // github.com/j-szulc/html-cleaning-dataset-merged, page-signal-master: English news of 2008, marked up by hand.
  english: { read: readMarked, perSite: 4, leastFound: 0.5 },
  // github.com/j-szulc/html-cleaning-dataset-merged, dragnet_data: blogs and magazines of 2012.
  blogs: { read: readBlogs, perSite: 3, leastFound: 0.7 },
};

type Newspaper = Record<string, { body?: { summary?: string[]; sections?: NewspaperSection[] } }>;
type NewspaperSection = { headline?: string[]; paragraphs?: string[] };

function* readNewspapers(folder: string): Iterable<Found> {
  const root = join(folder, 'tests/resources/parser/test_data');
  for (const country of readdirSync(root, { withFileTypes: true })) {
    if (!country.isDirectory()) continue;
    const at = join(root, country.name);
    const pages = readJson<Record<string, { url: string }>>(join(at, 'meta.info'));
    for (const [file, { url }] of Object.entries(pages)) {
      if (!existsSync(join(at, file))) continue;
      const publisher = file.replace(/_\d{4}_\d\d_\d\d\.html\.gz$/, '');
      const html = gunzipSync(readFileSync(join(at, file))).toString('utf8');
      // One file holds the texts of every page of the publisher, without saying which is whose.
      const texts = Object.values(readJson<Newspaper>(join(at, `${publisher}.json`))).map(({ body }) =>
        [
          ...(body?.summary ?? []),
          ...(body?.sections ?? []).flatMap(({ headline, paragraphs }) => [
            ...(headline ?? []),
            ...(paragraphs ?? []),
          ]),
        ].join('\n'),
      );
      const shareFound = finderIn(html);
      const [best] = texts.sort((a, b) => shareFound(b) - shareFound(a));
      if (best !== undefined) yield { id: basename(file, '.html.gz'), url, html, articleBody: best };
    }
  }
}

function* readLanguages(folder: string): Iterable<Found> {
  const root = join(folder, 'corpora/Corpus_daniel_v2.1');
  for (const id of readdirSync(join(root, 'html'))) {
    const host = id.split('_')[1] ?? id;
    const reference = parsePage(readFileSync(join(root, 'reference', id), 'utf8'), { url: 'http://a.test/' });
    const paragraphs: string[] = [];
    for (let node = reference.body.first; node !== null; node = node.next)
      if (node.tag === 'p') paragraphs.push(textOf(node, 100_000));
    const html = decodeBytes(readFileSync(join(root, 'html', id)), {}).text;
    // The first paragraph is the headline.
    yield { id, url: `http://${host}/${id}`, html, articleBody: paragraphs.slice(1).join('\n') };
  }
}

function* readMarked(folder: string): Iterable<Found> {
  for (const { id, html, reference } of readPairs(join(folder, 'page-signal-master'))) {
    const texts: string[] = [];
    const { body } = parsePage(reference, { url: 'http://a.test/' });
    for (let node = nextNode(body, body); node !== null; node = nextNode(node, body)) {
      const isText = node.tag === TEXT && /\bx-nc-sel2\b/.test(attribute(node.parent!, 'class') ?? '');
      if (isText) texts.push(node.text.trim());
    }
    yield { id, url: addressOf(html, id), html, articleBody: texts.join('\n') };
  }
}

const COMMENTS_BEGIN = '!@#$%^&*()';
// Shorter lines before the text are dates, names and headlines, which the other sets leave out.
const PROSE_WORDS = 14;

function* readBlogs(folder: string): Iterable<Found> {
  for (const { id, html, reference } of readPairs(join(folder, 'dragnet_data'))) {
    const lines = (reference.split(COMMENTS_BEGIN)[0] ?? '').split('\n').map((line) => line.trim());
    const first = lines.findIndex((line) => line.split(/\s+/).length >= PROSE_WORDS);
    if (first >= 0) yield { id, url: addressOf(html, id), html, articleBody: lines.slice(first).join('\n') };
  }
}

/** The pages of a folder of the merged collections, each with its reference. */
function* readPairs(root: string): Iterable<{ id: string; html: string; reference: string }> {
  const read = (...path: string[]) => decodeBytes(readFileSync(join(root, ...path)), {}).text;
  for (const file of readdirSync(join(root, 'input'))) {
    if (!file.endsWith('.html')) continue;
    const id = basename(file, '.html');
    yield { id, html: read('input', file), reference: read('GoldStandard', `${id}.txt`) };
  }
}

/** The address a page gives for itself, else the host it names most often: pages of one site are kept together by it. */
function addressOf(html: string, id: string): string {
  const own =
    /<link[^>]+rel=["']?canonical["']?[^>]+href=["'](https?:[^"']+)/i.exec(html)?.[1] ??
    /<meta[^>]+og:url["'][^>]+content=["'](https?:[^"']+)/i.exec(html)?.[1];
  if (own !== undefined) return own;
  const counts = new Map<string, number>();
  for (const [, host] of html.matchAll(/href=["']?https?:\/\/([a-z0-9.-]+)/gi)) {
    const site = getDomain(host!) ?? host!;
    counts.set(site, (counts.get(site) ?? 0) + 1);
  }
  const [most] = [...counts].sort((a, b) => b[1] - a[1]);
  return most === undefined ? `http://${id.toLowerCase()}.test/` : `http://${most[0]}/${id}`;
}

const RUN = 4;
const runsOf = (text: string): string[] => {
  const words = text.match(/[\u3040-\u30ff\u3400-\u9fff]|[\p{L}\p{N}]+/gu) ?? [];
  return words.slice(RUN - 1).map((_, i) => words.slice(i, i + RUN).join(' '));
};

/** Tells which share of a text, by runs of four words, stands in a page. */
function finderIn(html: string): (text: string) => number {
  const { body } = parsePage(html, { url: 'http://a.test/' });
  const texts: string[] = [];
  for (let node = nextNode(body, body); node !== null; node = nextNode(node, body))
    if (node.tag === TEXT) texts.push(node.text);
  const there = new Set(runsOf(texts.join(' ')));
  return (text) => {
    const runs = runsOf(text);
    return runs.filter((run) => there.has(run)).length / Math.max(1, runs.length);
  };
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}

const MIN_CHARS = 250;
const [name, folder, out] = process.argv.slice(2);
const collection = COLLECTIONS[name ?? ''];
if (name === undefined || folder === undefined || out === undefined || collection === undefined)
  throw new Error(`usage: sets.js ${Object.keys(COLLECTIONS).join('|')} FOLDER OUT`);
const at = join(out, 'articles', name);
mkdirSync(join(at, 'pages'), { recursive: true });
const truth: Record<string, { url: string; articleBody: string }> = {};
const ofSite = new Map<string, number>();
for (const { id, url, html, articleBody } of collection.read(folder)) {
  const site = getDomain(url) ?? url;
  const had = ofSite.get(site) ?? 0;
  if (had >= collection.perSite || articleBody.length < MIN_CHARS) continue;
  if (finderIn(html)(articleBody) < collection.leastFound) continue;
  ofSite.set(site, had + 1);
  truth[id] = { url, articleBody };
  writeFileSync(join(at, 'pages', `${id}.html.gz`), gzipSync(html));
}
writeFileSync(join(at, 'truth.json'), JSON.stringify(truth));
console.log(`${name}: ${Object.keys(truth).length} pages of ${ofSite.size} sites`);
