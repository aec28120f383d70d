import type { Page } from '../html/index.ts';
import { comparable } from './comparable.ts';
import { clean, type LdFacts } from './json-ld.ts';
import type { MetaTags } from './meta-tags.ts';
import { siteNames } from './site-names.ts';

/** What the page says about itself in a sentence or two; its title or the name of the site says nothing. */
export function decideDescription(
  page: Page,
  { tags, ld, title }: { tags: MetaTags; ld: LdFacts; title: string | null },
): string | null {
  const names = siteNames(page, tags, ld);
  const known = [title, tags.openGraph['og:title'], page.title].map((text) => comparable(text ?? ''));
  for (const text of [
    tags.openGraph['og:description'],
    tags.meta.description,
    tags.twitter['twitter:description'],
    ld.description,
  ]) {
    const plain = clean(text ?? '');
    const key = comparable(plain ?? '');
    if (plain !== null && key !== '' && !known.includes(key) && !names.includes(key)) return plain;
  }
  return null;
}
