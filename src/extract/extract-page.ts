import { createHash } from 'node:crypto';
import { habitsOfLanguage, writeMoment } from '../dates/index.ts';
import { attribute, collapse, copyString, type Page, type PageNode, textOf } from '../html/index.ts';
import { type Bylines, decideAuthors } from './authors.ts';
import { BLOCK_MODEL, type BlockModel } from './block-model.ts';
import {
  type Body,
  type Chosen,
  extractBody,
  imagesBetween,
  joinBlocks,
  noteMiss,
  runSelectors,
} from './body.ts';
import { sectionOfCrumbs } from './breadcrumbs.ts';
import { bylineTexts, creditTexts, portrayedName } from './byline-lines.ts';
import { isByline } from './bylines.ts';
import { canonicalOf } from './canonical.ts';
import { decideDescription } from './description.ts';
import { findHeadline, type Headline } from './headline.ts';
import { isPicture, listImages, type PageImage } from './images.ts';
import { type LdFacts, readJsonLd } from './json-ld.ts';
import { decideKeywords, splitKeywords } from './keywords.ts';
import { decideLanguage, type FoundLanguage } from './language.ts';
import type { FoundDate, Surroundings } from './line-dates.ts';
import { collectMarks, type Marks } from './marks.ts';
import { firstOf, type MetaTags, readMetaTags } from './meta-tags.ts';
import { linesAround, shortLines } from './near-lines.ts';
import { dateOfElement, decideModified, decidePublished, offsetOf } from './page-dates.ts';
import { decidePageType, type PageType } from './page-type.ts';
import { splitNames } from './person-names.ts';
import { printable } from './printable.ts';
import type { Selectors } from './selectors.ts';
import { declaredTitles, siteNames } from './site-names.ts';
import { decideTitle } from './title.ts';

/** Everything extraction says about a page; `evidence` names what won for each field. */
export type Extraction = {
  title: string | null;
  /** Paragraphs separated by an empty line. */
  text: string;
  authors: string[];
  publishedAt: Date | null;
  /** Minutes that the clock it was written by is ahead of UTC; null where the page does not say. */
  publishedOffset: number | null;
  modifiedAt: Date | null;
  modifiedOffset: number | null;
  section: string | null;
  language: string | null;
  canonicalUrl: string | null;
  description: string | null;
  keywords: string[];
  leadImage: string | null;
  images: PageImage[];
  openGraph: Record<string, string>;
  twitter: Record<string, string>;
  meta: Record<string, string>;
  /** The `jsonld_*` fields of the downstream record and `jsonld_raw`. */
  jsonLd: Record<string, unknown>;
  wordCount: number;
  pageType: PageType;
  confidence: number;
  evidence: Record<string, string>;
};

/** Its dates by the clocks of those who wrote them: the first ten characters are the day that readers see. */
export function writtenDates(extraction: Extraction): Record<'publishedAt' | 'modifiedAt', string | null> {
  const { publishedAt, publishedOffset, modifiedAt, modifiedOffset } = extraction;
  return {
    publishedAt: publishedAt === null ? null : writeMoment(publishedAt, publishedOffset),
    modifiedAt: modifiedAt === null ? null : writeMoment(modifiedAt, modifiedOffset),
  };
}

/** What a caller may ask for beyond the page itself. */
export type ExtractOptions = {
  url?: string;
  selectors?: Selectors;
  allowFallback?: boolean;
};

/** Extracts text and metadata from a parsed page; pure and deterministic. */
export function extractPage(source: Page, options: ExtractOptions = {}): Extraction {
  return extractWith(source, options, BLOCK_MODEL);
}

/** Everything read from a page before anything is decided. */
export type Findings = {
  /** Without what the source excludes. */
  page: Page;
  /** The page as it came, and what of it the source excludes. */
  excluded: { from: Page; nodes: PageNode[] };
  evidence: Record<string, string>;
  chosen: Chosen;
  tags: MetaTags;
  ld: LdFacts;
  marks: Marks;
  headline: Headline | null;
  body: Body;
  language: FoundLanguage | null;
  near: Surroundings;
  bylines: Bylines;
};

/** Reads a page: structured data, marks, headline, text and the lines around the headline. */
export function readFindings(source: Page, options: ExtractOptions, model: BlockModel): Findings {
  const whole = options.url === undefined ? source : { ...source, url: options.url };
  const evidence: Record<string, string> = {};
  const { page, excluded, chosen } = runSelectors(whole, options.selectors ?? {}, evidence);
  const tags = readMetaTags(page);
  const ld = readJsonLd(page.jsonLd, page.title);
  const marks = collectMarks(page);
  const headline = findHeadline(page, marks.headings, tags, ld);
  const allowFallback = options.allowFallback === true;
  const { classes, unseen } = marks;
  const context = { tags, ld, headline, classes, unseen, allowFallback, model };
  const body = extractBody(page, chosen, context, evidence);
  const lines = linesAround(body, headline, () => declaredTitles(page, tags, ld));
  const headlineIndex = headline?.node.index ?? -1;
  const language = decideLanguage(page.lang, tags.openGraph['og:locale'], body.text);
  if (language !== null) evidence.language = language.from;
  // A template writes dates as its language does, whatever the text is in; English is what nobody chose.
  const isUnchosen = language?.from === 'text' && /^\s*en\b/i.test(page.lang ?? 'en');
  const habits = habitsOfLanguage(isUnchosen ? language.value : page.lang);
  const languages = [page.lang ?? '', language?.value ?? ''].map((tag) =>
    tag.trim().slice(0, 2).toLowerCase(),
  );
  return {
    page,
    excluded: { from: whole, nodes: excluded },
    evidence,
    chosen,
    tags,
    ld,
    marks,
    headline,
    body,
    language,
    near: { headlineIndex, lines, shortLines: shortLines(body), habits },
    bylines: {
      marked: marks.authors,
      links: marks.authorLinks,
      lines: bylineTexts(
        lines.map((line) => line.text),
        languages,
      ),
      firstLines: bylineTexts(
        lines.filter(({ after }) => after >= 0 && after < FIRST_LINES).map((line) => line.text),
        languages,
      ),
      credits: () => creditTexts(body.blocks),
      portrayed: () =>
        portrayedName(lines, `${page.title} ${tags.openGraph['og:site_name']}`, () =>
          marks.images.map((image) => collapse(attribute(image, 'alt') ?? '')),
        ),
      headlineIndex,
      title: page.title ?? '',
    },
  };
}

/** The same with a given block scorer: cross-validation judges pages by models that never saw them. */
export function extractWith(source: Page, options: ExtractOptions, model: BlockModel): Extraction {
  return decideExtraction(readFindings(source, options, model));
}

/** Decides every field from what was read. */
export function decideExtraction(findings: Findings): Extraction {
  const { page, evidence, chosen, tags, ld, marks, body, language, near } = findings;
  const title = fromSelector(findings, 'title') ?? decideTitle(findings);
  if (title !== null) evidence.title = title.from;
  const named =
    chosen.author?.map((node) => attribute(node, 'content') ?? textOf(node, 300)).flatMap(splitNames) ?? [];
  if (chosen.author !== undefined && named.length === 0) noteMiss(evidence, 'author');
  const authors =
    named.length > 0 ? { names: named, from: 'selector' } : decideAuthors(tags, ld, findings.bylines);
  if (authors !== null) evidence.authors = authors.from;
  const published = dateFromSelector(findings) ?? decidePublished(findings);
  if (published !== null) evidence.publishedAt = `${published.from}: ${published.raw.slice(0, 60)}`;
  const modified = decideModified(findings, published?.date ?? null);
  if (modified !== null) evidence.modifiedAt = modified.from;
  const pictures = chosen.image?.filter((node) => isPicture(node, page)) ?? [];
  if (chosen.image !== undefined && pictures.length === 0) noteMiss(evidence, 'image');
  const areChosen = pictures.length > 0;
  const inText = areChosen ? pictures : imagesBetween(marks, body.kept);
  const images = listImages(page, tags, ld, { images: inText, areChosen });
  const description = decideDescription(page, { tags, ld, title: title?.value ?? null });
  const section = decideSection(findings, title?.value ?? null);
  if (section !== null) evidence.section = section.from;
  // A byline is no text: kept, it would make two copies of one article differ by the minute they were published.
  const all = body.elsewhere?.blocks ?? body.kept;
  const kept = all.filter((block) => !isByline(block.text, authors?.names ?? []));
  const { text, wordCount } =
    evidence.text !== 'selector' && kept.length < all.length ? joinBlocks(kept) : body;
  const { confidence, blocks } = body;
  const hasTitle = title !== null;
  const kind = decidePageType({ page, tags, ld, blocks, kept: body.kept, wordCount, confidence, hasTitle });
  evidence.pageType = kind.why;

  return {
    title: title === null ? null : printable(copyString(title.value)),
    text: printable(text),
    authors: (authors?.names ?? []).map(printable),
    publishedAt: published?.date ?? null,
    publishedOffset: published === null ? null : offsetOf(published, near.habits),
    modifiedAt: modified?.date ?? null,
    modifiedOffset: modified === null ? null : offsetOf(modified, near.habits),
    section: section === null ? null : printable(section.value),
    language: language?.value ?? null,
    canonicalUrl: canonicalOf(page, tags),
    description: description === null ? null : printable(description),
    keywords: decideKeywords(page, { tags, ld, title: title?.value ?? null }).map(printable),
    leadImage: images[0]?.url ?? null,
    images,
    openGraph: tags.openGraph,
    twitter: tags.twitter,
    meta: tags.meta,
    jsonLd: jsonLdRecord(ld),
    wordCount,
    pageType: kind.type,
    confidence,
    evidence,
  };
}

function decideSection(findings: Findings, title: string | null) {
  const { page, tags, ld } = findings;
  const named = fromSelector(findings, 'section');
  if (named !== null) return named;
  if (ld.section !== null) return { value: ld.section, from: 'json-ld' };
  const declared = firstOf(tags, ['article:section', 'og:article:section', 'parsely-section']);
  if (declared !== null) return { value: declared.value, from: declared.name };
  const crumb = sectionOfCrumbs(ld.crumbs, page, title, siteNames(page, tags, ld));
  return crumb === null ? null : { value: crumb, from: 'breadcrumbs' };
}

// A selector that names more elements names a kind of them.
const MAX_TRIED = 20;

/** What the first of the elements that says anything says. */
function fromSelector(
  { chosen, evidence }: Findings,
  name: 'title' | 'section',
): { value: string; from: string } | null {
  const nodes = chosen[name];
  if (nodes === undefined) return null;
  for (const node of nodes.slice(0, MAX_TRIED)) {
    const value = collapse(attribute(node, 'content') ?? textOf(node, 1_000));
    if (value !== '') return { value: copyString(value), from: 'selector' };
  }
  noteMiss(evidence, name);
  return null;
}

function dateFromSelector({ chosen, evidence, near }: Findings): FoundDate | null {
  if (chosen.date === undefined) return null;
  for (const node of chosen.date.slice(0, MAX_TRIED)) {
    const found = dateOfElement(node, 'selector', near.habits);
    if (found !== null) return found;
  }
  noteMiss(evidence, 'date');
  return null;
}

/** SHA-256 of the extracted text: the identity of what a document says. */
export function contentHash(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

// Lines below the headline in which "by" names the author and nobody else.
const FIRST_LINES = 6;

function jsonLdRecord(ld: LdFacts): Record<string, unknown> {
  if (ld.main === null) return {};
  return {
    jsonld_headline: ld.headline,
    jsonld_description: ld.description,
    jsonld_article_section: ld.section,
    jsonld_author: ld.authors.length === 0 ? null : ld.authors.join(', '),
    jsonld_publisher_name: ld.publisher,
    jsonld_url: ld.url,
    jsonld_image_url: ld.images[0] ?? null,
    jsonld_date_published: ld.datePublished,
    jsonld_date_created: ld.dateCreated,
    jsonld_date_modified: ld.dateModified,
    jsonld_word_count: ld.wordCount,
    jsonld_keywords: splitKeywords(ld.keywords),
    jsonld_schema_type: ld.type,
    jsonld_location: ld.location,
    jsonld_raw: ld.main,
  };
}
