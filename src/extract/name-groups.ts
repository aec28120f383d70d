import { type AttributeTable, findAttribute, nextNode, type PageNode } from '../html/index.ts';
import { lender } from './lent-memory.ts';
import { MAX_NAME_CHARS, NameWords } from './name-words.ts';

/**
 * What class names and ids say about an element, as groups of words in the languages of the web.
 * Names are cut into words first: "ad" must not be found in "header" nor "nav" in "navy".
 */
const GROUPS: [string, string][] = [
  [
    'story',
    'article articles entry post story blog news artikel articulo noticia beitrag nota recipe review meldung nachricht articolo artykul clanek',
  ],
  [
    'body',
    'body content contents text copy prose richtext wysiwyg markdown rte texto texte inhalt contenido conteudo corpo paragraph paragraphs richtexteditor formatted fliesstext absatz artikeltext testo tekst cuerpo corps brodtext',
  ],
  [
    'nav',
    'nav navigation menu menubar navbar submenu breadcrumb breadcrumbs crumb crumbs pagination pager toolbar topbar tab tabs sitenav skip menue',
  ],
  [
    'side',
    'sidebar aside rail secondary widget widgets complementary right left column marginalia sidenav sticky dock drawer panel',
  ],
  ['foot', 'footer foot bottom copyright legal colophon imprint subfooter'],
  ['head', 'header head masthead top hero topper intro banner heading'],
  [
    'comment',
    'comment comments reply replies disqus respond discussion commentlist kommentar kommentare commentaires comentarios thread feedback reviews leserkommentare diskussion forum commenti reacties',
  ],
  [
    'related',
    'related recommended recommend recommendations recommendation more similar popular trending latest also recirc recirculation next prev previous suggestion suggestions outbrain taboola readmore further explore discover relacionadas verwandte mehr recent upnext weitere aehnliche empfehlung empfehlungen relacionados correlati similaires gerelateerd meistgelesen zumthema',
  ],
  [
    'card',
    'card cards grid tile tiles carousel slider swiper slick slide teaser teasers item items list listing archive loop feed thumb thumbnail preview',
  ],
  [
    'share',
    'share sharing social socials follow facebook twitter addthis sharedaddy addtoany linkedin whatsapp pinterest sharebar compartir teilen partage drucken',
  ],
  [
    'ad',
    'ad ads adv advert advertisement advertising sponsor sponsored promo promos promotion promoted dfp gpt adslot werbung anzeige publicidad partner',
  ],
  [
    'signup',
    'newsletter subscribe subscription subscriber signup optin form cta call action mailing offer register registration login password passwort signin email donate donation paywall regwall membership mc embed inline',
  ],
  [
    'author',
    'author authors byline bio biography profile avatar contributor writer autor auteur about staff autoren redaktion verfasser autore',
  ],
  [
    'meta',
    'meta date time timestamp published pubdate info tag tags category categories label kicker eyebrow topic topics posted details data reading readtime estimated fecha datum section terms taxonomy rubrik schlagworte',
  ],
  [
    'caption',
    'caption captions credit credits photo photos image images gallery figure media video img picture lightbox foto wp photographer attachment player audio podcast bild bildunterschrift bildtext bildnachweis legende',
  ],
  [
    'cookie',
    'cookie cookies consent gdpr modal popup overlay dialog privacy tooltip notification alert toast lightbox interstitial ccpa',
  ],
  ['toc', 'toc tocs outline jump anchors index tableofcontents ez contentsmenu onpage scrollspy'],
  ['title', 'title titles headline hed titel titulo titre h1'],
  [
    'lead',
    'lead lede summary excerpt standfirst dek deck subtitle subtitulo description abstract chapo sapo subhead subheading subheadline tagline teaser vorspann bajada synopsis anriss einleitung entradilla chapeau occhiello sumario ingress perex takeaways highlights keypoints',
  ],
  [
    'hidden',
    'hidden hide invisible sr screen reader visually visuallyhidden offscreen noprint print collapsed',
  ],
  ['faq', 'faq faqs accordion collapse toggle question questions answer answers expandable qa'],
  ['quote', 'pullquote quote blockquote pull testimonial testimonials'],
  [
    'shop',
    'product products price prices buy shop cart rating ratings stars deal deals coupon merchant amazon affiliate checkout pricing plan',
  ],
  [
    'refs',
    'footnote footnotes reference references citation citations source sources endnote bibliography reflist ref cite',
  ],
  [
    'note',
    'disclaimer disclosure notice note notes correction editors callout tip box infobox factbox sidebox alertbox',
  ],
  ['embed', 'embed embedded tweet instagram iframe oembed twitter youtube tiktok widgetized'],
  ['site', 'logo brand site global page wrapper container layout main primary'],
];

/** Names of the groups, in the order of their bits. */
export const GROUP_NAMES: readonly string[] = GROUPS.map(([name]) => name);

/** The bits of groups by their names, separated by spaces. */
export const groupBits = (names: string): number =>
  names.split(' ').reduce((bits, name) => bits | (1 << GROUP_NAMES.indexOf(name)), 0);

const WORD_BITS = new Map<string, number>();
const addWord = (word: string, bits: number) => WORD_BITS.set(word, (WORD_BITS.get(word) ?? 0) | bits);
GROUPS.forEach(([, words], bit) => {
  for (const word of words.split(' ')) addWord(word, 1 << bit);
});

/** Set for names that may be those of a date by their letters; above the bits of the groups. */
export const MAY_DATE = 1 << GROUP_NAMES.length;
for (const word of ['dates', 'dateline', 'publish']) addWord(word, MAY_DATE);

// Words written together ("articlebody", "postcontent", "relatedposts") are common enough to look for.
for (const first of 'article post entry story news blog main page body'.split(' '))
  for (const second of 'body content text copy bodys contents texts copys'.split(' '))
    addWord(first + second, groupBits('story body'));
const compound = (pattern: RegExp, holds: string, bits: number, minChars = 7) => ({
  pattern,
  holds: holds.split(' '),
  minChars,
  bits,
});
const NAV_LETTERS = Array.from('abcdefghijklmnopqrstuvwxyz', (letter) => `nav${letter}`).join(' ');
const NAME_WORDS = new NameWords(WORD_BITS, [
  compound(/^related|related$/, 'elat', groupBits('related')),
  compound(/newsletter|subscri/, 'slet bscr', groupBits('signup')),
  compound(/^comment|comments$/, 'omme', groupBits('comment')),
  compound(/sidebar/, 'ideb', groupBits('side')),
  compound(/^footer|footer$/, 'oote', groupBits('foot')),
  compound(/breadcrumb|^nav[a-z]{2,}|menu$/, `dcru menu ${NAV_LETTERS}`, groupBits('nav')),
  compound(/^author|author$|byline/, 'utho ylin', groupBits('author')),
  compound(/caption$/, 'ptio', groupBits('caption')),
  compound(/^share|share$|social/, 'shar ocia', groupBits('share')),
  compound(/cookie|consent/, 'ooki onse', groupBits('cookie')),
  compound(/^advert|^adsby/, 'dver dsby', groupBits('ad')),
  compound(/date|time|publish/, 'date time publ', MAY_DATE, 5),
]);

const borrowCodes = lender((size) => new Uint16Array(size));

/** The groups the words of a class name or id belong to, as bits; with MAY_DATE. */
export function bitsOfName(name: string): number {
  const length = Math.min(name.length, MAX_NAME_CHARS);
  const codes = borrowCodes(length);
  for (let i = 0; i < length; i++) codes[i] = name.charCodeAt(i);
  return NAME_WORDS.read(codes, 0, length);
}

/** The same for the value of an attribute, read where it stands in the page. */
export function bitsOfValue(table: AttributeTable, i: number): number {
  if (!table.isPlain(i)) return bitsOfName(table.value(i));
  return NAME_WORDS.read(table.source.codes, table.start(i), table.end(i));
}

const ALL_GROUPS = MAY_DATE - 1;
const MAX_ID_CHARS = 200;

/** The groups an element's id belongs to, as bits. */
export function idBits(node: PageNode): number {
  const found = findAttribute(node, 'id');
  if (found < 0) return 0;
  const table = node.attributes!;
  // Entities make a value longer in the page than it is.
  if (table.end(found) - table.start(found) >= MAX_ID_CHARS && table.value(found).length >= MAX_ID_CHARS)
    return 0;
  return bitsOfValue(table, found) & ALL_GROUPS;
}

const TAG_GROUPS: string[] = [
  'article',
  'main',
  'nav',
  'aside',
  'footer',
  'header',
  'form',
  'figure',
  'figcaption',
  'table',
  'list',
  'blockquote',
  'details',
  'section',
  'a',
  'button',
  'dl',
  'address',
  'hidden',
  'itembody',
  'p',
  'heading',
  'td',
  'pre',
  'label',
];

/** Names of the structural groups: what the tag, role and microdata of an element say. */
export const TAG_GROUP_NAMES: readonly string[] = TAG_GROUPS;
const TAG_BITS = new Map<string, number>(TAG_GROUPS.map((name, bit) => [name, 1 << bit]));
for (const [tag, group] of [
  ['ul', 'list'],
  ['ol', 'list'],
  ['menu', 'nav'],
  ['th', 'td'],
  ['dialog', 'hidden'],
  ['summary', 'details'],
  ['dt', 'dl'],
  ['dd', 'dl'],
  ['h1', 'heading'],
  ['h2', 'heading'],
  ['h3', 'heading'],
  ['h4', 'heading'],
  ['h5', 'heading'],
  ['h6', 'heading'],
  ['q', 'blockquote'],
] as const)
  TAG_BITS.set(tag, TAG_BITS.get(group) ?? 0);
const ROLE_BITS = new Map(
  (
    [
      ['navigation', 'nav'],
      ['banner', 'header'],
      ['contentinfo', 'footer'],
      ['complementary', 'aside'],
      ['main', 'main'],
      ['article', 'article'],
      ['dialog', 'hidden'],
      ['search', 'form'],
    ] as const
  ).map(([role, group]) => [role as string, TAG_BITS.get(group)!]),
);
const PICTURED = new Set(['img', 'picture', 'video', 'audio', 'iframe']);
// Code stands behind a title, a copy button and the like.
const MAX_FRAME_NODES = 40;

/** Whether a figure frames code, as highlighters have it, and no picture with its caption. */
function isFrameOfCode(figure: PageNode): boolean {
  let at = nextNode(figure, figure);
  for (let steps = 0; at !== null && steps < MAX_FRAME_NODES; steps++, at = nextNode(at, figure)) {
    if (at.tag === 'pre') return true;
    if (PICTURED.has(at.tag)) return false;
  }
  return false;
}

const TELLING = new Set(['role', 'hidden', 'aria-hidden', 'style', 'itemprop']);
const HIDING_STYLE = /display\s*:\s*none|visibility\s*:\s*hidden/i;

/** The structural groups of an element, as bits. */
export function tagBits(node: PageNode): number {
  let bits = node.tag === 'figure' && isFrameOfCode(node) ? 0 : (TAG_BITS.get(node.tag) ?? 0);
  for (let i = node.attributesFrom; i < node.attributesTo; i++) {
    const name = node.attributes!.names[i]!;
    if (!TELLING.has(name)) continue;
    const value = node.attributes!.value(i);
    if (name === 'role') {
      bits |= ROLE_BITS.get(value) ?? 0;
    } else if (
      name === 'hidden' ||
      (name === 'aria-hidden' && value === 'true') ||
      (name === 'style' && value.length < 500 && HIDING_STYLE.test(value))
    )
      bits |= TAG_BITS.get('hidden') ?? 0;
    else if (name === 'itemprop' && /articleBody/i.test(value)) bits |= TAG_BITS.get('itembody') ?? 0;
  }
  return bits;
}
