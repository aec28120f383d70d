import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { parseHTML } = require('linkedom') as { parseHTML(html: string): { document: unknown } };
const { Readability } = require('@mozilla/readability') as {
  Readability: new (document: unknown) => { parse(): { textContent?: string | null } | null };
};

/** What Readability on linkedom reads from a page; '' where it finds nothing or fails. */
export function readWithReadability(html: string): string {
  try {
    return new Readability(parseHTML(html).document).parse()?.textContent ?? '';
  } catch (error) {
    if (error instanceof Error) return '';
    throw error;
  }
}
