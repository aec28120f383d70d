import { createRequire } from 'node:module';
import { collapse } from '../html/index.ts';

type ReadabilityResult = { textContent?: string | null; content?: string | null } | null;
type ReadabilityModule = {
  Readability: new (document: unknown, options: object) => { parse(): ReadabilityResult };
};
type LinkedomModule = { parseHTML(html: string): { document: unknown } };

const require = createRequire(import.meta.url);
// Both recurse over the tree: past this many nested elements they overflow the stack.
const MAX_ELEMENTS = 20_000;

/**
 * The text Readability finds, or null when it finds none. It costs ten times our own extractor or more and recurses,
 * so only a caller in a worker thread asks for it; loaded on first use because most processes never do.
 */
export function readabilityText(html: string): string | null {
  const { parseHTML } = require('linkedom') as LinkedomModule;
  const { Readability } = require('@mozilla/readability') as ReadabilityModule;
  try {
    const { document } = parseHTML(html);
    const result = new Readability(document, { maxElemsToParse: MAX_ELEMENTS }).parse();
    const lines = (result?.textContent ?? '')
      .split(/\n\s*\n|\n/)
      .map(collapse)
      .filter((line) => line !== '');
    return lines.length === 0 ? null : lines.join('\n\n');
  } catch (error) {
    // Too many elements, a stack overflow or a page it cannot read: no second opinion then.
    if (error instanceof Error) return null;
    throw error;
  }
}
