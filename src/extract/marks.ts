import { attribute, nextNode, type Page, type PageNode, TEXT } from '../html/index.ts';
import { isAuthorClass, isAuthorLink, isAuthorMark } from './authors.ts';
import { bitsOfName, GROUP_NAMES } from './name-groups.ts';

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
const SAYS_DATE = 1;
const SAYS_AUTHOR = 2;

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
  };
  // The same class stands on hundreds of elements: each is looked at once a page.
  const known = new Map<string, number>();
  const classSays = (name: string): number => {
    let says = known.get(name);
    if (says === undefined) {
      // The groups are needed for the blocks anyway and tell nearly all names apart without the patterns.
      const groups = bitsOfName(name);
      const mayDate =
        (groups & META) !== 0 || name.includes('ate') || name.includes('ublish') || name.includes('ime');
      says =
        (mayDate && name.length < 300 && DATE_NAME.test(name) ? SAYS_DATE : 0) |
        ((groups & AUTHOR) !== 0 && isAuthorClass(name) ? SAYS_AUTHOR : 0);
      known.set(name, says);
    }
    return says;
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
    const says = name === null ? 0 : classSays(name);
    if ((says & SAYS_DATE) !== 0) push(marks.dates, node);
    if ((says & SAYS_AUTHOR) !== 0 || isAuthorMark(node)) push(marks.authors, node);
    if (node.tag === 'a' && isAuthorLink(node)) push(marks.authorLinks, node);
  }
  return marks;
}
