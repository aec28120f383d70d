import { type Options, selectAll } from 'css-select';
import { messageOf } from '../errors/index.ts';
import { attribute, type Page, PageNode, TEXT, textOf } from '../html/index.ts';

/** A source's own selectors; each is CSS and is tried before any other evidence. */
export type Selectors = {
  /** The element that holds the article; text outside it is ignored. */
  container?: string;
  /** Elements removed before anything is read. */
  exclude?: string;
  title?: string;
  body?: string;
  author?: string;
  date?: string;
  section?: string;
  image?: string;
};

const NAMES: readonly (keyof Selectors)[] = [
  'container',
  'exclude',
  'title',
  'body',
  'author',
  'date',
  'section',
  'image',
];
// The longest selector anyone writes by hand; matching costs by its parts.
const MAX_SELECTOR_CHARS = 1_000;

/** Selectors from JSON text, or what is wrong with it. */
export function parseSelectors(
  json: string,
): { outcome: 'ok'; selectors: Selectors } | { outcome: 'invalid'; message: string } {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return { outcome: 'invalid', message: messageOf(error) };
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    return { outcome: 'invalid', message: 'an object of field names and selectors is wanted' };
  const selectors: Selectors = {};
  for (const [name, selector] of Object.entries(value)) {
    const known = NAMES.find((one) => one === name);
    if (known === undefined)
      return { outcome: 'invalid', message: `"${name}" is none of ${NAMES.join(', ')}` };
    if (typeof selector !== 'string' || selector.length > MAX_SELECTOR_CHARS)
      return { outcome: 'invalid', message: `the selector of "${name}" is no text of sensible length` };
    selectors[known] = selector;
  }
  return { outcome: 'ok', selectors };
}

function childrenOf(node: PageNode): PageNode[] {
  const list: PageNode[] = [];
  for (let child = node.first; child !== null; child = child.next) list.push(child);
  return list;
}

const isTag = (node: PageNode): node is PageNode => node.tag !== TEXT;

const options: Options<PageNode, PageNode> = {
  adapter: {
    isTag,
    getAttributeValue: (node, name) => attribute(node, name) ?? undefined,
    getChildren: childrenOf,
    getName: (node) => node.tag,
    getParent: (node) => node.parent,
    getSiblings: (node) => (node.parent === null ? [node] : childrenOf(node.parent)),
    getText: (node) => (node.tag === TEXT ? node.text : textOf(node)),
    hasAttrib: (node, name) => attribute(node, name) !== null,
    removeSubsets: (nodes) => {
      const all = new Set(nodes);
      return [...all].filter((node) => {
        for (let at = node.parent; at !== null; at = at.parent) if (all.has(at)) return false;
        return true;
      });
    },
  },
};

/** What a selector gave: its elements, or why it could not be read. */
export type Selected =
  | { outcome: 'matched'; nodes: PageNode[] }
  | { outcome: 'no_match' }
  | { outcome: 'invalid_selector'; message: string };

/** Runs one CSS selector over the page; bad syntax is an outcome, not an exception. */
export function selectNodes(page: Page, selector: string): Selected {
  try {
    const nodes = selectAll<PageNode, PageNode>(selector, page.root, options).filter(
      (node) => node instanceof PageNode,
    );
    return nodes.length === 0
      ? { outcome: 'no_match' }
      : { outcome: 'matched', nodes: nodes.slice(0, 1_000) };
  } catch (error) {
    return { outcome: 'invalid_selector', message: messageOf(error) };
  }
}
