import { attribute, nextNode, type Page, type PageNode, TEXT } from '../html/index.ts';
import { isAuthorClass, isAuthorLink, isAuthorMark } from './authors.ts';
import { bitsOfName, GROUP_NAMES, rememberNames } from './name-groups.ts';

/** Elements that name themselves as something we look for, collected in one walk. */
export type Marks = {
  headings: PageNode[];
  times: PageNode[];
  dates: PageNode[];
  authors: PageNode[];
  /** Links to an author's page. */
  authorLinks: PageNode[];
  images: PageNode[];
  /** Microdata: the first element of each interesting `itemprop`. */
  itemprops: Map<string, PageNode>;
  /** By index of an element: the groups its class belongs to, as bits. */
  classBits: Int32Array;
};

const DATE_NAME =
  /(?:^|[\s_-])(?:date|dates|dateline|published|publish|pubdate|posted|timestamp|time|datum|fecha|data|meta)(?:[\s_-]|$)|[a-z](?:Date|Time)\b|pubdate|postdate|entrydate/i;
const ITEMPROPS = new Set([
  'headline',
  'datepublished',
  'datemodified',
  'author',
  'articlebody',
  'articlesection',
  'description',
  'image',
  'keywords',
]);
const MAX_MARKS = 200;
const META = 1 << GROUP_NAMES.indexOf('meta');
const AUTHOR = 1 << GROUP_NAMES.indexOf('author');
// Above the bits of the groups.
const SAYS_DATE = 1 << GROUP_NAMES.length;
const SAYS_AUTHOR = 2 << GROUP_NAMES.length;
const SAYS_GROUPS = SAYS_DATE - 1;

/** The groups of a class and whether it is that of a date or of an author. */
const readClass = rememberNames((name) => {
  // The groups tell nearly all names apart without the patterns.
  const groups = bitsOfName(name);
  const mayDate =
    (groups & META) !== 0 || name.includes('ate') || name.includes('ublish') || name.includes('ime');
  return (
    groups |
    (mayDate && name.length < 300 && DATE_NAME.test(name) ? SAYS_DATE : 0) |
    ((groups & AUTHOR) !== 0 && isAuthorClass(name) ? SAYS_AUTHOR : 0)
  );
});

/** Walks the body once and notes headings, times, dates, bylines and images. */
export function collectMarks(page: Page): Marks {
  const marks: Marks = {
    headings: [],
    times: [],
    dates: [],
    authors: [],
    authorLinks: [],
    images: [],
    itemprops: new Map(),
    classBits: new Int32Array(page.nodeCount + 1),
  };
  const push = (list: PageNode[], node: PageNode) => {
    if (list.length < MAX_MARKS) list.push(node);
  };
  for (let node: PageNode | null = page.body; node !== null; node = nextNode(node, page.body)) {
    if (node.tag === TEXT) continue;
    if (node.tag === 'h1' || node.tag === 'h2') push(marks.headings, node);
    else if (node.tag === 'time') push(marks.times, node);
    else if (node.tag === 'img') push(marks.images, node);
    if (node.attributes === null) continue;
    const itemprop = attribute(node, 'itemprop');
    if (itemprop !== null) {
      for (const name of itemprop.toLowerCase().split(/\s+/, 4)) {
        if (ITEMPROPS.has(name) && !marks.itemprops.has(name)) marks.itemprops.set(name, node);
      }
    }
    const name = attribute(node, 'class');
    const says = name === null || name === '' ? 0 : readClass(name);
    marks.classBits[node.index] = says & SAYS_GROUPS;
    if ((says & SAYS_DATE) !== 0) push(marks.dates, node);
    if ((says & SAYS_AUTHOR) !== 0 || isAuthorMark(node)) push(marks.authors, node);
    if (node.tag === 'a' && isAuthorLink(node)) push(marks.authorLinks, node);
  }
  return marks;
}
