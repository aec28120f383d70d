import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makePublishers } from './index.ts';
import { itemIdIn, slugOf } from './paths.ts';
import { createSite, type Site } from './site.ts';
import { requestKindOf, resolveTarget } from './target.ts';
import type { Item } from './timeline.ts';

const startMs = Date.parse('2026-03-04T12:00:00Z');
const sites = makePublishers({ seed: 2, count: 14, backlog: 20 }).map((publisher) =>
  createSite({ seed: 2, publisher, startMs }),
);

const resolve = (site: Site, path: string, query = '') =>
  resolveTarget(site, { host: site.publisher.host, path, query, nowMs: startMs });

describe('resolveTarget', () => {
  it('finds every article by its own address, in every style and language', () => {
    const styles = new Set<string>();
    for (const site of sites) {
      styles.add(site.publisher.urlStyle);
      for (let index = 0; index < 20; index++) {
        const item = site.timeline.at(index) as Item;
        const [path = '', query = ''] = site.describe(item).path.split('?');
        expect(resolve(site, path, query)).toEqual({ kind: 'article', item, part: 1 });
      }
    }
    expect(styles.size).toBe(6);
  });

  it('knows no article before its time', () => {
    const site = sites[0] as Site;
    const count = site.timeline.countAt(startMs + 30 * 86_400_000);
    const future = site.timeline.at(count - 1) as Item;
    expect(resolve(site, site.describe(future).path).kind).toBe('missing');
  });

  it('answers to any address without throwing', () => {
    fc.assert(
      fc.property(fc.nat(13), fc.string({ unit: 'binary' }), fc.string(), (index, path, query) => {
        const site = sites[index] as Site;
        requestKindOf(resolve(site, `/${path}`, query));
        requestKindOf(resolve(site, path, query));
      }),
    );
  });
});

describe('slugOf', () => {
  const cases: [string, string][] = [
    ['New figures for the harbour', 'new-figures-for-the-harbour'],
    ['Über die Größe', 'uber-die-grosse'],
    ['L’été à Port-Léon', 'l-ete-a-port-leon'],
    ['Старая набережная', 'staraya-naberezhnaya'],
    ['Så förändrade', 'sa-forandrade'],
    ['港の町', '%E6%B8%AF%E3%81%AE%E7%94%BA'],
  ];
  it.each(cases)('%s', (text, slug) => expect(slugOf(text)).toBe(slug));
});

describe('itemIdIn', () => {
  const cases: [string, string, number | undefined][] = [
    ['/2026/03/04/words-c7opd', '', Number.parseInt('c7opd', 36)],
    ['/a/words-c7opd.html', '', Number.parseInt('c7opd', 36)],
    ['/news/2026/03/words-c7opd/', '', Number.parseInt('c7opd', 36)],
    ['/article.php', 'hop=1&id=c7opd', Number.parseInt('c7opd', 36)],
    ['/article.php', 'id=%00', undefined],
    ['/politics/', '', undefined],
  ];
  it.each(cases)('%s?%s', (path, query, id) => expect(itemIdIn(path, query)).toBe(id));
});
