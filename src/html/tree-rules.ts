const VOID = new Set(
  'area base basefont br col embed frame hr img input keygen link meta param source track wbr'.split(' '),
);

// Opening one of these ends an open paragraph (HTML standard, 13.2.6.4.7).
const CLOSES_P = new Set(
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

/** What the tree builder asks about a tag when it opens, as bits: one look-up instead of five. */
export const TAG = {
  /** Has no content. */
  void: 1,
  /** Ends an open paragraph. */
  closesP: 2,
  /** May stand in the head without ending it. */
  inHead: 4,
  /** Has a rule in IMPLIED_END. */
  ends: 8,
  /** There is one of it in a page: html, head, body. */
  once: 16,
  /** Its content is not HTML: svg, math. */
  foreign: 32,
  /** Kept in a list of the page, or looked at closer. */
  noted: 64,
} as const;

const FLAGS = new Map<string, number>();
const flag = (tags: Iterable<string>, bit: number) => {
  for (const tag of tags) FLAGS.set(tag, (FLAGS.get(tag) ?? 0) | bit);
};
flag(VOID, TAG.void);
flag(CLOSES_P, TAG.closesP);
flag(HEAD_ONLY, TAG.inHead);
flag(IMPLIED_END.keys(), TAG.ends);
flag(['html', 'head', 'body'], TAG.once);
flag(['svg', 'math'], TAG.foreign);
flag(set('a meta link title base html head body input script'), TAG.noted);

/** The bits of TAG that a tag has. */
export function flagsOf(tag: string): number {
  return FLAGS.get(tag) ?? 0;
}
