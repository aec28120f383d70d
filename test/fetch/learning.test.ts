import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chooseLinks } from '../../src/fetch/spider-choice.ts';
import type { LeasedUrl, SubmitItem } from '../../src/frontier/index.ts';
import { handleResponse } from '../../src/ingest/handle.ts';
import { Site } from '../../src/sites/index.ts';
import { classifyUrl } from '../../src/url/index.ts';
import { makeLeasedUrl, makeResponse, makeSettings } from '../setup/page-response.ts';
import { askWeb } from '../web/client.ts';
import { type Publisher, startWeb, type Web } from '../web/index.ts';
import { lexicons } from '../web/lexicon/index.ts';

// What the first pages of an unknown site teach about the rest of it. LEARNING_SEEDS=20 looks at more sites.
const seeds = Number(process.env.LEARNING_SEEDS ?? 1);
const pagesRead = 50;
const styles = ['dated', 'section', 'flat', 'html', 'slash', 'query'] as const;
const languages = ['en', 'de', 'fr', 'es', 'sv', 'ru', 'ja'] as const;

const webs: Web[] = [];
beforeAll(async () => {
  for (let seed = 1; seed <= seeds; seed += 1)
    webs.push(
      await startWeb({
        seed,
        publishers: styles.length * (seeds > 1 ? 2 : 1),
        changes: Array.from({ length: styles.length * 2 }, (_, at) => ({
          urlStyle: styles[at % styles.length]!,
          language: languages[(seed + at) % languages.length]!,
          charset: 'utf-8',
          charsetDeclaration: 'header' as const,
          layout: (seed + at) % 6,
          metadata: (seed + at) % 2 === 0 ? ('none' as const) : ('opengraph' as const),
          feeds: [],
          sitemaps: [],
          archives: at % 2 === 0,
          compression: 'none' as const,
          pagination: at % 3 === 0 ? ('path' as const) : ('query' as const),
          backlog: 200,
          duplicates: false,
          syndicates: false,
        })),
        startMs: Date.parse('2024-06-05T12:00:00Z'),
        speed: 0,
      }),
    );
});
afterAll(async () => {
  for (const web of webs) await web.close();
});

/** Reads pages in the order of their priority, as a fetcher would, and answers what was learned. */
async function readSome(web: Web, publisher: Publisher): Promise<Site> {
  const site = new Site();
  const first = { url: `http://${publisher.host}/`, kind: 'listing' as const, priority: 5, depth: 0 };
  const waiting: Pick<SubmitItem, 'url' | 'kind' | 'priority' | 'depth'>[] = [first];
  const known = new Set([first.url]);
  for (let page = 0; page < pagesRead && waiting.length > 0; page += 1) {
    const best = waiting.reduce((most, one) => Math.max(most, one.priority), 0);
    const [item] = waiting.splice(
      waiting.findIndex((one) => one.priority === best),
      1,
    );
    const answer = await askWeb(web, item!.url);
    if (answer.status !== 200) continue;
    const row: LeasedUrl = makeLeasedUrl({
      url: item!.url,
      kind: item!.kind,
      depth: item!.depth ?? 0,
      origin: 'spider',
      sourceId: null,
    });
    const response = makeResponse(answer.body, { row, finalUrl: row.url });
    const read = await handleResponse(response, { ...makeSettings(), learned: site.shapes.kinds });
    if (read.outcome !== 'links' && read.outcome !== 'document') continue;
    site.shapes.learn(row.url, read.page!.kind);
    const rules = { priority: 5, settings: {} };
    for (const found of chooseLinks(site, { row, rules, page: read.page!, pagers: true }).items) {
      if (known.has(found.url)) continue;
      known.add(found.url);
      waiting.push(found);
    }
  }
  return site;
}

/** Every listing a publisher has, first pages and further ones. */
function listingsOf(publisher: Publisher): string[] {
  const bases = ['/', ...lexicons[publisher.language].sections.map(({ slug }) => `/${slug}/`)];
  const pages = bases.flatMap((base) =>
    publisher.pagination === 'path'
      ? [`${base}page/2`, `${base}page/3`]
      : [`${base}?page=2`, `${base}?page=3`],
  );
  const archives = publisher.archives ? ['/archive', '/2024/05/', '/2024/06/'] : [];
  return [...bases, ...pages, ...archives].map((path) => `http://${publisher.host}${path}`);
}

describe.each(styles)('%s', (style) => {
  test(`after ${pagesRead} pages nearly every address of the site is known for what it is`, async () => {
    for (const web of webs)
      for (const publisher of web.publishers.filter((one) => one.urlStyle === style)) {
        const { kinds } = (await readSome(web, publisher)).shapes;
        const articles = web.groundTruth(publisher.domain)[0]!.articles.map((one) => one.url);
        const wrong = [
          ...articles.filter((url) => classifyUrl(url, { learned: kinds }).kind !== 'article'),
          ...listingsOf(publisher).filter((url) => classifyUrl(url, { learned: kinds }).kind !== 'listing'),
        ];
        const all = articles.length + listingsOf(publisher).length;
        const where = `${publisher.language} layout ${publisher.layout} ${publisher.metadata}`;
        expect([where, 1 - wrong.length / all >= 0.97, wrong.slice(0, 5)]).toEqual([
          where,
          true,
          wrong.slice(0, 5),
        ]);
        console.log(`${style} ${where}: ${((1 - wrong.length / all) * 100).toFixed(2)} % of ${all}`);
      }
  });
});
