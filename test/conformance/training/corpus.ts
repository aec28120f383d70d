import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { getDomain } from 'tldts';

/** A page of an article set with its reference text. */
export type TruthPage = {
  set: string;
  setSize: number;
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

type Truth = Record<string, Pick<TruthPage, 'url' | 'articleBody' | 'title' | 'author' | 'date'>>;

/** Reads every page of every article set below a folder of the conformance layout. */
export function loadPages(corpus: string): TruthPage[] {
  const pages: TruthPage[] = [];
  for (const set of readdirSync(join(corpus, 'articles'), { withFileTypes: true })) {
    if (!set.isDirectory()) continue;
    const folder = join(corpus, 'articles', set.name);
    const truths = JSON.parse(readFileSync(join(folder, 'truth.json'), 'utf8')) as Truth;
    const ids = Object.keys(truths);
    for (const id of ids) {
      const { url, articleBody, title = null, author = null, date = null } = truths[id]!;
      const html = gunzipSync(readFileSync(join(folder, 'pages', `${id}.html.gz`))).toString('utf8');
      const site = getDomain(url, { allowPrivateDomains: true }) ?? id;
      pages.push({
        set: set.name,
        setSize: ids.length,
        id,
        url,
        site,
        html,
        articleBody,
        title,
        author,
        date,
      });
    }
  }
  return pages;
}

/** The fold a site belongs to: a hash of its name, so that adding pages moves no other page. */
export function foldOf(site: string, folds: number): number {
  let hash = 2_166_136_261;
  for (let i = 0; i < site.length; i++) hash = Math.imul(hash ^ site.charCodeAt(i), 16_777_619);
  return (hash >>> 8) % folds;
}
