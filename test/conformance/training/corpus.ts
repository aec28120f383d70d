import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { getDomain } from 'tldts';
import type { Snippets } from '../article-metric.ts';

/** A page of an article set with its reference text. */
export type TruthPage = Snippets & {
  set: string;
  setSize: number;
  /** Whether it comes from a corpus named after the first: material to learn from beside the pages we are judged by. */
  further: boolean;
  id: string;
  url: string;
  /** The registrable domain: pages of one site share their template and must not be on both sides of a split. */
  site: string;
  html: string;
  articleBody: string;
  title?: string | null;
  author?: string | null;
  date?: string | null;
};

type Truth = Record<
  string,
  Pick<TruthPage, 'url' | 'articleBody' | 'title' | 'author' | 'date' | 'with' | 'without'>
>;

/** Reads every page of every article set below some folders of the conformance layout. */
export function loadPages(corpora: readonly string[]): TruthPage[] {
  return corpora.flatMap((corpus, i) =>
    readdirSync(join(corpus, 'articles'), { withFileTypes: true })
      .filter((set) => set.isDirectory())
      .flatMap((set) => loadSet(join(corpus, 'articles', set.name), set.name, i > 0)),
  );
}

function loadSet(folder: string, set: string, further: boolean): TruthPage[] {
  const truths = Object.entries(JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8')) as Truth);
  return truths.map(([id, truth]) => ({
    set,
    setSize: truths.length,
    further,
    id,
    url: truth.url,
    site: getDomain(truth.url, { allowPrivateDomains: true }) ?? id,
    html: gunzipSync(readFileSync(join(folder, 'pages', `${id}.html.gz`))).toString('utf8'),
    articleBody: truth.articleBody,
    title: truth.title ?? null,
    author: truth.author ?? null,
    date: truth.date ?? null,
    with: truth.with ?? [],
    without: truth.without ?? [],
  }));
}

/** The fold a site belongs to: a hash of its name, so that adding pages moves no other page. */
export function foldOf(site: string, folds: number): number {
  let hash = 2_166_136_261;
  for (let i = 0; i < site.length; i++) hash = Math.imul(hash ^ site.charCodeAt(i), 16_777_619);
  return (hash >>> 8) % folds;
}
