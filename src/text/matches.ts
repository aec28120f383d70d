/**
 * Every match of a global pattern, from a place on. `matchAll` works on a copy of the pattern, and the engine compiles a
 * copy anew after each large collection of garbage: that of dates took a tenth of the time to read pages.
 */
export function* matchesOf(pattern: RegExp, text: string, from = 0): Generator<RegExpExecArray, void> {
  for (let at = from; at <= text.length; ) {
    // Whoever is given a match may search with the same pattern before the next.
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) return;
    at = pattern.lastIndex + (match[0] === '' ? 1 : 0);
    yield match;
  }
}
