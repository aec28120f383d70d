import { nextNode, type Page, type PageNode, TEXT } from '../html/index.ts';
import { isAuthorPage, namesAuthor } from './author-elements.ts';
import { ClassNames, SAYS_AUTHOR, SAYS_DATE, SAYS_UNSEEN } from './class-names.ts';

/** Elements that name themselves as something we look for, collected in one walk. */
export type Marks = {
  headings: PageNode[];
  times: PageNode[];
  dates: PageNode[];
  authors: PageNode[];
  /** Links to an author's page. */
  authorLinks: PageNode[];
  images: PageNode[];
  /** Parts of a template that are not for this page; nothing inside them is looked at. */
  unseen: PageNode[];
  /** Microdata and RDFa: the first element of each interesting `itemprop` or `property`. */
  itemprops: Map<string, PageNode>;
  classes: ClassNames;
};

/** Whether an element shows a picture; AMP has an element of its own for it. */
export const isImage = (tag: string): boolean => tag === 'img' || tag === 'amp-img';

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

function push(list: PageNode[], node: PageNode): void {
  if (list.length < MAX_MARKS) list.push(node);
}

/** Walks the body once and notes headings, times, dates, bylines and images. */
export function collectMarks(page: Page): Marks {
  const marks: Marks = {
    headings: [],
    times: [],
    dates: [],
    authors: [],
    authorLinks: [],
    images: [],
    unseen: [],
    itemprops: new Map(),
    classes: new ClassNames(page),
  };
  let skips = false;
  for (let node: PageNode | null = page.body; node !== null; node = nextNode(node, page.body, skips)) {
    skips = false;
    if (node.tag === TEXT) continue;
    if (node.tag === 'h1' || node.tag === 'h2') push(marks.headings, node);
    else if (node.tag === 'time') push(marks.times, node);
    else if (isImage(node.tag)) push(marks.images, node);
    if (node.attributesFrom === node.attributesTo) continue;
    skips = !readAttributes(node, marks);
  }
  return marks;
}

/** Notes what the attributes of an element say; false: nothing inside it is for this page. */
function readAttributes(node: PageNode, marks: Marks): boolean {
  const table = node.attributes!;
  let isSeen = true;
  let isAuthor = false;
  let hasClass = false;
  for (let i = node.attributesFrom; i < node.attributesTo; i++) {
    const name = table.names[i]!;
    if (name === 'class') {
      if (hasClass) continue;
      hasClass = true;
      const says = marks.classes.read(node.index, table, i);
      if ((says & SAYS_DATE) !== 0) push(marks.dates, node);
      isAuthor ||= (says & SAYS_AUTHOR) !== 0;
      if ((says & SAYS_UNSEEN) !== 0 && node.tag !== 'body') isSeen = false;
    } else if (name === 'itemprop' || (name === 'property' && node.tag !== 'meta')) {
      // RDFa says the same in another attribute, where names may have a prefix.
      const value = table.value(i).replace(/(^|\s)schema:/g, '$1');
      isAuthor ||= namesAuthor(value);
      for (const word of value.toLowerCase().split(/\s+/, 4))
        if (ITEMPROPS.has(word) && !marks.itemprops.has(word)) marks.itemprops.set(word, node);
    } else if (node.tag === 'a') {
      if (name === 'rel') isAuthor ||= namesAuthor(table.value(i));
      else if (name === 'href' && isAuthorPage(table.value(i))) push(marks.authorLinks, node);
    }
  }
  if (isAuthor) push(marks.authors, node);
  if (!isSeen) marks.unseen.push(node);
  return isSeen;
}
