import { copyString } from '../html/index.ts';

const MAX_KNOWN = 500;
const MAX_KNOWN_CHARS = 200;
const known = new Map<string, string>();

/**
 * Lower case letters and digits only: the form in which titles and names are compared. A page compares its few titles
 * and names again and again, and those of the site come back with its next page, so some are remembered.
 */
export function comparable(text: string): string {
  const ready = known.get(text);
  if (ready !== undefined) return ready;
  const key = makeComparable(text);
  if (text.length > MAX_KNOWN_CHARS) return key;
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(copyString(text), copyString(key));
  return key;
}

/** The same for a text that is not likely to come again. */
export function makeComparable(text: string): string {
  // Most text is plain ASCII, for which the simple pattern is several times as fast.
  if (!/[^\x00-\x7f]/.test(text)) return text.toLowerCase().replace(/[^a-z0-9]+/g, '');
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');
}
