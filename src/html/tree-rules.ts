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

const RUBY_SCOPE = set('ruby rtc p div li td th h1 h2 h3 body section article');

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
  ['rb', { ends: set('rb rt rp rtc'), within: RUBY_SCOPE }],
  ['rtc', { ends: set('rb rt rp rtc'), within: RUBY_SCOPE }],
  ['rt', { ends: set('rb rt rp'), within: RUBY_SCOPE }],
  ['rp', { ends: set('rb rt rp'), within: RUBY_SCOPE }],
]);

// A stray end tag does not reach out of these.
const SCOPE = set('html body table td th caption button object marquee template svg math');

// HTML standard, 13.2.6.5.
const ENDS_FOREIGN = set(
  'b big blockquote center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 hr i img li listing menu nobr ol p pre ruby s small ' +
    'span strong strike sub sup table tt u ul var',
);

const HEAD_ONLY = set('head title meta link base script style noscript template');

// Elements that do not break a line of text.
const INLINE = set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rb rp rt rtc ruby s samp small ' +
    'span strike strong sub sup time tt u var wbr img picture source svg path g use input button o:p amp-img font-face ' +
    'math mjx-container mjx-assistive-mml',
);
const SILENT = set('script style template noscript svg iframe object head annotation annotation-xml');
const UNSEEN = set(
  'select textarea audio video canvas map datalist embed applet frameset progress meter title',
);

/** What is asked about a tag again and again, as bits: one look-up when it opens instead of one for every question. */
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
  /** Does not break a line of text. */
  inline: 128,
  /** Its content is no text of the page. */
  silent: 256,
  /** Its content is not read as text of an article: the silent ones, form fields, players. */
  unseen: 512,
  /** Bold or emphasised. */
  strong: 1_024,
  /** A button, label or field. */
  control: 2_048,
  /** A stray end tag does not reach out of it. */
  scope: 4_096,
  /** A part of a table, whose end tag reaches further. */
  tablePart: 8_192,
  /** Its content is text up to its own end tag. */
  raw: 16_384,
  /** Entities count in that text. */
  decoded: 32_768,
  /** May be a formula. */
  formula: 65_536,
  /** A cell of a table. */
  cell: 131_072,
  /** May be a mark or a card in a sentence. */
  aside: 262_144,
  /** Whether it is read depends on its attributes. */
  late: 524_288,
  /** Tells in a ruby how the word beside it is pronounced. */
  reading: 1_048_576,
  /** Never stands in svg or math: it ends them. */
  endsForeign: 2_097_152,
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
flag(ENDS_FOREIGN, TAG.endsForeign);
flag(INLINE, TAG.inline);
flag(SILENT, TAG.silent | TAG.unseen);
flag(UNSEEN, TAG.unseen);
flag(set('b strong em i'), TAG.strong);
flag(set('button label input'), TAG.control);
flag(SCOPE, TAG.scope);
flag(set('table tbody thead tfoot tr td th caption'), TAG.tablePart);
flag(set('script style iframe noembed noframes xmp title textarea'), TAG.raw);
flag(set('title textarea'), TAG.decoded);
flag(set('math script img'), TAG.formula);
flag(set('td th'), TAG.cell);
flag(set('a span sup'), TAG.aside);
flag(['template'], TAG.late);
flag(set('rt rp rtc'), TAG.silent | TAG.unseen | TAG.reading);
flag(set('a meta link title base html head body input script'), TAG.noted);

/** Elements of svg and math that hold HTML. */
export const HOLDS_HTML: ReadonlySet<string> = set(
  'foreignobject desc title mi mo mn ms mtext annotation-xml',
);

/** The bits of TAG that a tag has. */
export function flagsOf(tag: string): number {
  return FLAGS.get(tag) ?? 0;
}

/** The bits of a `<template>` that is shown in its place. */
export const SHOWN_TEMPLATE = TAG.scope;
/** Those of a part of a ruby that stands in none. */
export const STRAY_READING = TAG.inline | TAG.ends;
