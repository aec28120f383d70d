import {
  baseOf,
  isAlike,
  type NumberedAddress,
  numbersOf,
  type ParsedForm,
  pageNumber,
  parseForm,
} from './pager-forms.ts';
import { pagePathWords, pageWords, saysPage } from './pager-words.ts';
import { inferPagers, type Pager, type PagerLink } from './pagers.ts';

/** The most pages that an article is read over. */
export const mostArticlePages = 10;
// A pager that leads farther is of something else.
const mostLinked = 30;

/**
 * The address of the page that an article goes on with; null: it ends here. `at` is the number of the page at hand.
 * Comments, pictures and lists of other articles are numbered as well, so only what counts pages counts.
 */
export function nextArticlePage(url: string, links: readonly PagerLink[], at: number): string | null {
  const pager = inferPagers(url, links, { isArticle: true }).find(
    (one) => one.page === at && one.next !== null && one.highest <= mostLinked && isOfArticle(one, links),
  );
  return pager?.next ?? null;
}

/** The links of an article without those to further pages of it, as far as their form says. */
export function withoutArticlePages<L extends { url: string }>(links: readonly L[], url: string): L[] {
  const first = baseOf(url);
  const isPage = (address: NumberedAddress): boolean =>
    address.base === first &&
    address.value <= mostLinked &&
    (address.where !== 'stem' || address.suffix !== '') &&
    countsPages({ ...address, step: 1, zero: 0 });
  return links.filter((link) => !numbersOf(link.url).some(isPage));
}

function isOfArticle({ base, form }: Pager, links: readonly PagerLink[]): boolean {
  const parsed = parseForm(form);
  if (parsed === null || !countsPages(parsed)) return false;
  // `/roundup-2` may well be the next roundup; then its link says no number.
  return (
    parsed.where !== 'stem' ||
    parsed.suffix !== '' ||
    links.some((link) =>
      numbersOf(link.url).some(
        (address) =>
          address.base === base &&
          isAlike(address, parsed) &&
          saysPage(link.text, pageNumber(parsed, address.value)),
      ),
    )
  );
}

function countsPages({ where, name, step }: ParsedForm): boolean {
  if (step > 1) return false;
  if (where === 'query') return pageWords.test(name) || name === 'p';
  if (where === 'path') return name === '' || name === 'p' || pagePathWords.test(name);
  return /^[-_.](?:p|page|seite)?$/i.test(name);
}
