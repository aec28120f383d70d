import { contentHash, type Extraction, makeComparable } from '../extract/index.ts';
import { attribute, discoverLinks, type Page, type PageNode } from '../html/index.ts';
import { nextArticlePage } from '../sites/index.ts';
import { MAX_URL_LENGTH } from '../url/index.ts';
import type { Ingested, IngestSettings } from './response.ts';
import { headLinks } from './spider-links.ts';

/** An article as one of its pages has it, or several together. */
export type ArticleRead = Extract<Ingested, { outcome: 'document' }>;

// What stands behind an article's own name in the address of its second page (1, where counting begins with 0).
const secondPage = /\D[12](?:\/|\.[a-z]{2,5}|&[^#]*)?$/i;
const mostTail = 40;

/** The address of the page that the article at hand goes on with, which is its page number `at`; null: it ends here. */
export function nextPageOf(
  page: Page,
  extraction: Extraction,
  at: { url: string; page: number },
): string | null {
  const { url } = at;
  return at.page > 1 || (isSigned(extraction) && hasSecondPage(page, url))
    ? nextArticlePage(url, [...discoverLinks(page), ...headLinks(page)], at.page)
    : null;
}

// A listing that passes for an article has further pages too, but nobody wrote it on a day.
const isSigned = ({ pageType, publishedAt, authors }: Extraction): boolean =>
  pageType === 'article' && (publishedAt !== null || authors.length > 0);

/** Few pages link their own name with a number: only for those all links are read. */
function hasSecondPage({ anchors, links }: Page, url: string): boolean {
  const own = /([^/?#]+?)(?:\.[a-z]{2,5})?\/?(?:[?#]|$)/i.exec(url.replace(/^https?:\/\/[^/]*/i, ''))?.[1];
  if (own === undefined) return false;
  const isLikely = (node: PageNode): boolean => {
    const href = attribute(node, 'href') ?? '';
    if (href.length > MAX_URL_LENGTH) return false;
    const from = href.startsWith('?') ? 0 : href.lastIndexOf(own);
    return from >= 0 && href.length - from - own.length <= mostTail && secondPage.test(href);
  };
  return anchors.some(isLikely) || links.some(isLikely);
}

// What a further page repeats is its frame; what is left must be a good part of it.
const leastShare = 0.4;
const leastWords = 15;
const mostChars = 2_000_000;

/** An article with what a further page adds to it; null: that is no page of it. */
export function joinPage(
  first: ArticleRead,
  further: ArticleRead,
  { page, settings }: { page: number; settings: Pick<IngestSettings, 'minWords'> },
): ArticleRead | null {
  const [own, other] = [first.document, further.document];
  if (!isSameTitle(own.title, other.title)) return null;
  const known = new Set(own.text.split('\n\n').map(makeComparable));
  known.add(makeComparable(own.title ?? ''));
  const added = other.text
    .split('\n\n')
    .filter((paragraph) => !known.has(makeComparable(paragraph)))
    .join('\n\n');
  const share = other.text.length === 0 ? 0 : added.length / other.text.length;
  const words = Math.round(other.wordCount * share);
  if (share < leastShare || words < leastWords || own.text.length + added.length > mostChars) return null;
  const text = `${own.text}\n\n${added}`;
  const wordCount = own.wordCount + words;
  const { evidence } = own.meta as { evidence?: Readonly<Record<string, string>> };
  const stub = first.stub && wordCount < settings.minWords;
  return {
    ...first,
    stub,
    next: further.next,
    found: [...first.found, ...further.found],
    document: {
      ...own,
      text,
      wordCount,
      contentHash: contentHash(text),
      confidence: Math.min(own.confidence, other.confidence),
      pageType: first.stub && !stub ? other.pageType : own.pageType,
      meta: { ...own.meta, evidence: { ...evidence, pages: String(page) } },
    },
  };
}

// "A story (2/3)", "A story - page 2"; not "A story of 2024".
const pageMark =
  /[\s(|,–—-]*(?:\p{L}{1,12}[.:]? *)?(?<!\d)\d{1,2}(?: *(?:\/|of|von|de|sur|из) *\d{1,2})?[\s)]*$/u;
const mostMarkChars = 40;
const withoutMark = (title: string): string =>
  title.slice(0, -mostMarkChars) + title.slice(-mostMarkChars).replace(pageMark, '');

function isSameTitle(own: string | null, other: string | null): boolean {
  if (own === null || other === null) return own === other;
  const [a, b] = [own, other].map((title) => makeComparable(withoutMark(title))) as [string, string];
  const [whole, part] = [makeComparable(own), makeComparable(other)];
  return whole === part || (a !== '' && (a === b || a === part || whole === b));
}
