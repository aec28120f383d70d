import type { Page } from '../html/index.ts';
import type { BlockContext } from './features.ts';
import { findHeadline } from './headline.ts';
import { readJsonLd } from './json-ld.ts';
import { collectMarks } from './marks.ts';
import { readMetaTags } from './meta-tags.ts';

/** Reads what the block scorer wants to know beside the blocks. */
export function readContext(page: Page): BlockContext {
  const tags = readMetaTags(page);
  const ld = readJsonLd(page.jsonLd, page.title);
  const { headings, classes } = collectMarks(page);
  return { tags, ld, headline: findHeadline(page, headings, tags, ld), classes };
}
