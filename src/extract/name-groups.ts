import { attribute, type PageNode } from '../html/index.ts';

/**
 * What class names and ids say about an element, as groups of words in the languages of the web.
 * Names are cut into words first: "ad" must not be found in "header" nor "nav" in "navy".
 */
const GROUPS: [string, string][] = [
  [
    'story',
    'article articles entry post story blog news artikel articulo noticia beitrag nota recipe review',
  ],
  [
    'body',
    'body content contents text copy prose richtext wysiwyg markdown rte texto texte inhalt contenido conteudo corpo paragraph paragraphs richtexteditor formatted',
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
    'comment comments reply replies disqus respond discussion commentlist kommentar kommentare commentaires comentarios thread feedback reviews',
  ],
  [
    'related',
    'related recommended recommend recommendations recommendation more similar popular trending latest also recirc recirculation next prev previous suggestion suggestions outbrain taboola readmore further explore discover relacionadas verwandte mehr recent upnext',
  ],
  [
    'card',
    'card cards grid tile tiles carousel slider swiper slick slide teaser teasers item items list listing archive loop feed thumb thumbnail preview',
  ],
  [
    'share',
    'share sharing social socials follow facebook twitter addthis sharedaddy addtoany linkedin whatsapp pinterest sharebar compartir teilen partage',
  ],
  [
    'ad',
    'ad ads adv advert advertisement advertising sponsor sponsored promo promos promotion promoted dfp gpt adslot werbung anzeige publicidad partner',
  ],
  [
    'signup',
    'newsletter subscribe subscription subscriber signup optin form cta call action mailing offer register login email donate donation paywall regwall membership mc embed inline',
  ],
  [
    'author',
    'author authors byline bio biography profile avatar contributor writer autor auteur about staff',
  ],
  [
    'meta',
    'meta date time timestamp published pubdate info tag tags category categories label kicker eyebrow topic topics posted details data reading readtime estimated fecha datum section terms taxonomy',
  ],
  [
    'caption',
    'caption captions credit credits photo photos image images gallery figure media video img picture lightbox foto wp photographer attachment player audio podcast',
  ],
  [
    'cookie',
    'cookie cookies consent gdpr modal popup overlay dialog privacy tooltip notification alert toast lightbox interstitial ccpa',
  ],
  ['toc', 'toc tocs outline jump anchors index tableofcontents ez contentsmenu onpage scrollspy'],
  ['title', 'title titles headline hed titel titulo titre h1'],
  [
    'lead',
    'lead lede summary excerpt standfirst dek deck subtitle subtitulo description abstract chapo sapo subhead subheading subheadline tagline teaser vorspann bajada synopsis takeaways highlights keypoints',
  ],
  [
    'hidden',
    'hidden hide invisible sr screen reader visually visuallyhidden offscreen noprint print d-none collapsed',
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

const WORD_BITS = new Map<string, number>();
GROUPS.forEach(([, words], bit) => {
  for (const word of words.split(' ')) WORD_BITS.set(word, (WORD_BITS.get(word) ?? 0) | (1 << bit));
});

const MAX_NAME_CHARS = 160;
const MAX_NAMES = 20_000;

/**
 * Remembers what a name says: the same ones come again all over a page, and on the next page of the site. A key that is
 * a slice would keep its whole page alive: long names are rare and not worth a copy, and the table is emptied when full.
 */
export function rememberNames(read: (name: string) => number): (name: string) => number {
  const known = new Map<string, number>();
  return (name) => {
    const ready = known.get(name);
    if (ready !== undefined) return ready;
    const bits = read(name);
    if (name.length > MAX_NAME_CHARS) return bits;
    if (known.size >= MAX_NAMES) known.clear();
    known.set(Buffer.from(name, 'utf16le').toString('utf16le'), bits);
    return bits;
  };
}

/** The groups the words of a class name or id belong to, as bits. */
export function bitsOfName(name: string): number {
  let bits = 0;
  let start = 0;
  const end = Math.min(name.length, MAX_NAME_CHARS);
  // camelCase and BEM alike become words; a scan by hand, as splitting with patterns cost a millisecond a page.
  let lower = false;
  for (let i = 0; i <= end; i++) {
    const code = i < end ? name.charCodeAt(i) : 32;
    const isLower = (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
    const isUpper = code >= 65 && code <= 90;
    if (isLower) {
      lower = true;
      continue;
    }
    if (isUpper && !lower) continue;
    if (i > start) {
      const word = name.slice(start, i).toLowerCase();
      bits |= WORD_BITS.get(word) ?? compoundBits(word);
    }
    start = isUpper ? i : i + 1;
    lower = false;
  }
  return bits;
}

// Words written together ("articlebody", "postcontent", "relatedposts") are common enough to look for.
const COMPOUND: [RegExp, string][] = [
  [/^(?:article|post|entry|story|news|blog|main|page|body)(?:body|content|text|copy)s?$/, 'story body'],
  [/^related|related$/, 'related'],
  [/newsletter|subscri/, 'signup'],
  [/^comment|comments$/, 'comment'],
  [/sidebar/, 'side'],
  [/^footer|footer$/, 'foot'],
  [/breadcrumb|^nav[a-z]{2,}|menu$/, 'nav'],
  [/^author|author$|byline/, 'author'],
  [/caption$/, 'caption'],
  [/^share|share$|social/, 'share'],
  [/cookie|consent/, 'cookie'],
  [/^advert|^adsby/, 'ad'],
];
const COMPOUND_BITS = COMPOUND.map(([pattern, groups]) => {
  let bits = 0;
  for (const group of groups.split(' ')) bits |= 1 << GROUP_NAMES.indexOf(group);
  return [pattern, bits] as const;
});

// One pattern that any of them would match: most words match none, and twelve tries a word were a twentieth of a page.
const ANY_COMPOUND = new RegExp(COMPOUND.map(([pattern]) => pattern.source).join('|'));

function compoundBits(word: string): number {
  if (word.length < 7 || !ANY_COMPOUND.test(word)) return 0;
  let bits = 0;
  for (const [pattern, value] of COMPOUND_BITS) if (pattern.test(word)) bits |= value;
  return bits;
}

const bitsOfId = rememberNames(bitsOfName);

/** The groups an element's id belongs to, as bits. */
export function idBits(node: PageNode): number {
  const id = attribute(node, 'id');
  return id !== null && id !== '' && id.length < 200 ? bitsOfId(id) : 0;
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
const ROLE_GROUP: Record<string, string> = {
  navigation: 'nav',
  banner: 'header',
  contentinfo: 'footer',
  complementary: 'aside',
  main: 'main',
  article: 'article',
  dialog: 'hidden',
  search: 'form',
};
const HIDING_STYLE = /display\s*:\s*none|visibility\s*:\s*hidden/i;

/** The structural groups of an element, as bits. */
export function tagBits(node: PageNode): number {
  let bits = TAG_BITS.get(node.tag) ?? 0;
  const list = node.attributes;
  if (list === null) return bits;
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i]!;
    const value = list[i + 1]!;
    if (name === 'role') {
      const group = Object.hasOwn(ROLE_GROUP, value) ? ROLE_GROUP[value] : undefined;
      if (group !== undefined) bits |= TAG_BITS.get(group) ?? 0;
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
