import { attribute, indexAfter, type PageNode } from '../html/index.ts';
import type { Block } from './blocks.ts';
import type { ClassNames } from './class-names.ts';
import { groupBits, idBits } from './name-groups.ts';

/*
 * Which pictures of a page are none of its article: buttons, counters, advertisements, portraits, parts of the template.
 * Pages tell by how they name the file, by what the picture links to and by the part of the page it stands in.
 */

const any = (words: string) => new RegExp(`^(?:${words.replaceAll(' ', '|')})s?\\d*$`, 'i');

// Wherever they stand in the name of a file or folder, and however large the picture is.
const NEVER = any(
  'favicon sprite avatar gravatar blavatar pixel pixy spacer blank spinner loader placeholder transparent masthead',
);
const LOGO = any('logo icon ico');
// What a site declares for every page that has no picture of its own.
const DEFAULT = any('default fallback generic opengraph ogimage noimage');
// Controls of a page and lines of its layout, where the name of the file is little more.
const CONTROL = any(
  'print printer email mail mailto envelope share sharing sociable tweet tweetn twitter facebook fb digg delicious reddit stumbleupon stumble linkedin pinterest pinext whatsapp google gplus rss xml atom feed zoom enlarge larger smaller bigger font text textsize play player audio listen close prev previous next arrow arry pointer bullet dot line hr divide divider separator corner topcap shadow star rating rater quote donate subscribe newsletter follow comment header footer background bg button btn badge banner counter emoji emoticon smiley smilie loading',
);
const TEMPLATE_FOLDER = any('theme skin template');
// Folders of what is bought, counted or pressed.
const OTHER_FOLDER = any(
  'layout design plugin button navigation nav branding storytool toolbar ad adv advt advert adserver banner sponsor counter emoticon smilie rater',
);
const OTHER_HOST =
  /(?:^|\.)(?:ads?\d*|adserver|adimg|counter|pixel|doubleclick|tradedoubler|adtech|adriver|tns-counter|zemanta|jiathis|addthis|addtoany|sharethis|pinterest|feedburner|feedsportal|assoc-amazon|scorecardresearch|quantserve|statcounter|imrworldwide)\./;
const SMALLEST_PX = 64;
const PHOTO_PX = 200;
// Longer than a panorama: a banner or a line.
const LONGEST = 5;

/** Words of a name: "printButton_2x" has print, button and 2x. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9\u00c0-\uffff]+/)
    .filter((word) => word !== '');
}

type Named = { host: string; folders: string[]; file: string; words: string[] };

function namesOf(url: string): Named {
  const { hostname: host, pathname } = new URL(url);
  const folders = pathname.slice(0, 500).split('/');
  folders.pop();
  const file = pathname.slice(pathname.lastIndexOf('/') + 1).slice(0, 200);
  // A program that scales pictures is asked for one of any folder.
  const isProgram = /\.(?:php|aspx?|ashx|cgi|do)$/i.test(file);
  return {
    host,
    folders: isProgram ? [] : folders,
    file,
    words: wordsOf(file.replace(/\.[a-z]{3,4}$/i, '')),
  };
}

const someWord = ({ folders, words }: Named, pattern: RegExp) =>
  words.some((word) => pattern.test(word)) ||
  folders.some((folder) => wordsOf(folder).some((word) => pattern.test(word)));

const MAX_DEFAULT_WORDS = 4;

/** The words of a file's name that are no numbers. */
const lettersOf = ({ words }: Named) => words.filter((word) => !/^\d/.test(word));

/** Whether the name of a file says that the picture is tiny: "tweet_14x14.png". */
function isNamedSmall(file: string): boolean {
  const [, width, height] = /(?:^|\D)(\d{1,4})x(\d{1,4})(?:\D|$)/i.exec(file) ?? [];
  // 3x2 and 16x9 are proportions.
  if (width === undefined || (Number(height) < 10 && `${width}x${height}` !== '1x1')) return false;
  return Math.min(Number(width), Number(height)) < SMALLEST_PX && width !== '16';
}

/** Whether a picture that the page declares is that of the site, by its address. */
export function isOfSite(url: string, width: number | null): boolean {
  const named = namesOf(url);
  const letters = lettersOf(named);
  return (
    someWord(named, NEVER) ||
    (letters.length <= MAX_DEFAULT_WORDS && letters.some((word) => LOGO.test(word) || DEFAULT.test(word))) ||
    named.folders.some((folder) => TEMPLATE_FOLDER.test(folder)) ||
    (width === null && isNamedSmall(named.file))
  );
}

/** Whether a picture among the text is none of the article, by its address and its size, where the page tells it. */
export function isDecoration(url: string, width: number | null, height: number | null): boolean {
  const named = namesOf(url);
  if (OTHER_HOST.test(named.host) || someWord(named, NEVER)) return true;
  if (named.folders.some((folder) => TEMPLATE_FOLDER.test(folder) || OTHER_FOLDER.test(folder))) return true;
  if (width !== null && height !== null && Math.max(width / height, height / width) > LONGEST) return true;
  if (width !== null && width >= PHOTO_PX) return false;
  if (someWord(named, LOGO) || (width === null && isNamedSmall(named.file))) return true;
  const letters = lettersOf(named);
  const controls = letters.filter((word) => CONTROL.test(word)).length;
  // Controls are drawn; a photograph may show a star or an arrow.
  return controls > 0 && letters.length <= (/\.jpe?g$/i.test(named.file) ? controls : 3);
}

const SERVICE =
  /^mailto:|[/.](?:twitter\.com\/(?:share|home|intent)|facebook\.com\/share|digg\.com|del\.icio\.us|delicious\.com|reddit\.com\/(?:r\/[^/]+\/)?submit|stumbleupon\.com|linkedin\.com\/share|pinterest\.com\/pin\/create|plus\.google\.com\/share|addthis\.com|doubleclick\.net|feeds?\.|feedburner\.)|[^/:]\/(?:print|rss|email|feed)(?:[/.?]|$)/i;
const OTHER_PARTS = groupBits('nav share ad comment signup author foot');
const TEASERS = groupBits('related card');
const PHOTO_PARTS = groupBits('caption');
const OTHER_TAGS = new Set(['nav', 'footer', 'form', 'noscript']);
const WHOLE_TAGS = new Set(['figure', 'article', 'main', 'body']);
const IMAGE_FILE = /\.(?:jpe?g|png|gif|webp|avif)(?:$|[?#])/i;
const MAX_PARENTS = 8;

/** Whether a picture stands in another part of the page than its text, or leads to a service or another page. */
export function isBesideText(image: PageNode, kept: readonly Block[], classes: ClassNames): boolean {
  let isLinked = false;
  let isTeaser = false;
  let isPhoto = false;
  for (
    let at: PageNode | null = image, steps = 0;
    at !== null && steps < MAX_PARENTS;
    at = at.parent, steps++
  ) {
    if (WHOLE_TAGS.has(at.tag)) break;
    if (at.tag === 'a') {
      const href = (attribute(at, 'href') ?? '').slice(0, 300);
      if (SERVICE.test(href)) return true;
      // A teaser leads to its story, a photograph at most to a larger one of itself.
      isLinked = /^[^#]/.test(href) && !/^javascript:/i.test(href) && !IMAGE_FILE.test(href);
    }
    if (holdsText(at, kept)) break;
    const groups = classes.groups(at.index) | idBits(at);
    if ((groups & PHOTO_PARTS) !== 0) isPhoto = true;
    else if (OTHER_TAGS.has(at.tag) || (groups & OTHER_PARTS) !== 0) return true;
    isTeaser ||= (groups & TEASERS) !== 0;
  }
  return isLinked && isTeaser && !isPhoto;
}

/** Whether one of the blocks, which stand in the order of the page, begins inside an element. */
function holdsText(element: PageNode, kept: readonly Block[]): boolean {
  let [low, high] = [0, kept.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (kept[middle]!.from < element.index) low = middle + 1;
    else high = middle;
  }
  return low < kept.length && kept[low]!.from < indexAfter(element);
}
