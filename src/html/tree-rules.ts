/** Elements without content. */
export const VOID = new Set(
  'area base basefont br col embed frame hr img input keygen link meta param source track wbr'.split(' '),
);

/** Opening one of these ends an open paragraph (HTML standard, 13.2.6.4.7). */
export const CLOSES_P = new Set(
  (
    'address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3 ' +
    'h4 h5 h6 header hgroup hr main menu nav ol p pre search section summary table ul li dd dt'
  ).split(' '),
);

const set = (words: string) => new Set(words.split(' '));

/** What an opening tag ends, and the elements beyond which it does not look. */
export const IMPLIED_END = new Map<string, { ends: Set<string>; within: Set<string> }>([
  ['li', { ends: set('li'), within: set('ul ol menu table td th body section article') }],
  ['dd', { ends: set('dd dt'), within: set('dl table td th body section article') }],
  ['dt', { ends: set('dd dt'), within: set('dl table td th body section article') }],
  ['option', { ends: set('option'), within: set('select datalist optgroup body') }],
  ['optgroup', { ends: set('optgroup option'), within: set('select body') }],
  ['tr', { ends: set('tr td th'), within: set('table tbody thead tfoot body') }],
  ['td', { ends: set('td th'), within: set('tr table body') }],
  ['th', { ends: set('td th'), within: set('tr table body') }],
  ['tbody', { ends: set('tbody thead tfoot tr td th'), within: set('table body') }],
  ['thead', { ends: set('tbody thead tfoot tr td th'), within: set('table body') }],
  ['tfoot', { ends: set('tbody thead tfoot tr td th'), within: set('table body') }],
]);

/** A stray end tag does not reach out of these. */
export const SCOPE = set('html body table td th caption button object marquee template svg math');

const HEAD_ONLY = set('head title meta link base script style noscript template');

/** Whether the element may stand in the head without ending it. */
export function belongsInHead(tag: string): boolean {
  return HEAD_ONLY.has(tag);
}
