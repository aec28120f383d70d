/** One candidate of a srcset; `size` is its width in pixels, or its density times a thousand. */
export type Candidate = { url: string; width: number | null; size: number };

const MAX_SRCSET_CHARS = 20_000;
const MAX_CANDIDATES = 100;

const isSpace = (code: number) => code === 32 || (code >= 9 && code <= 13);

/** The candidates of a srcset (HTML standard, 4.8.4.2.1); commas inside addresses are kept. One pass, no backtracking. */
export function parseSrcset(srcset: string): Candidate[] {
  const text = srcset.slice(0, MAX_SRCSET_CHARS);
  const found: Candidate[] = [];
  let at = 0;
  while (at < text.length && found.length < MAX_CANDIDATES) {
    while (at < text.length && (isSpace(text.charCodeAt(at)) || text[at] === ',')) at++;
    const start = at;
    while (at < text.length && !isSpace(text.charCodeAt(at))) at++;
    let end = at;
    while (end > start && text[end - 1] === ',') end--;
    if (end === start) continue;
    let descriptor = '';
    // A comma right behind the address ends the candidate; else its descriptor runs up to the next comma.
    if (end === at) {
      const comma = text.indexOf(',', at);
      const stop = comma < 0 ? text.length : comma;
      descriptor = text.slice(at, stop).trim();
      at = stop;
    }
    found.push({ url: text.slice(start, end), ...readDescriptor(descriptor) });
  }
  return found;
}

function readDescriptor(text: string): { width: number | null; size: number } {
  const match = /^(\d{1,6}(?:\.\d{1,4})?)([wx])(?:\s|$)/.exec(text);
  if (match === null) return { width: null, size: 1_000 };
  const value = Number(match[1]);
  return match[2] === 'w' ? { width: value, size: value } : { width: null, size: value * 1_000 };
}

/** The candidate with the most pixels, the first of equals; inlined pictures do not count. */
export function bestOfSrcset(srcset: string): Candidate | null {
  let best: Candidate | null = null;
  for (const one of parseSrcset(srcset)) {
    if (one.url.startsWith('data:')) continue;
    if (best === null || one.size > best.size) best = one;
  }
  return best;
}
