import { type Options, selectAll } from 'css-select';
import { messageOf } from '../errors/index.ts';
import { attribute, type Page, PageNode, TEXT, textOf, withoutNodes } from '../html/index.ts';

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
    removeSubsets: (nodes) => outermost([...new Set(nodes)]),
  },
};

/** What a selector gave: its elements, or why it could not be read. */
export type Selected =
  | { outcome: 'matched'; nodes: PageNode[] }
  | { outcome: 'no_match' }
  | { outcome: 'invalid_selector'; message: string };

/** Runs one CSS selector over the page; bad syntax is an outcome, not an exception. */
export function selectNodes(page: Page, selector: string, mostNodes = 1_000): Selected {
  try {
    const nodes = selectAll<PageNode, PageNode>(selector, page.root, options).filter(
      (node) => node instanceof PageNode,
    );
    return nodes.length === 0
      ? { outcome: 'no_match' }
      : { outcome: 'matched', nodes: nodes.slice(0, mostNodes) };
  } catch (error) {
    return { outcome: 'invalid_selector', message: messageOf(error) };
  }
}

/** What a source leaves out of a page: the page without it, and the elements that went. */
export type Left = { page: Page; excluded: PageNode[]; selected: Selected | null };

/** Takes from a page what the source excludes, before anything else is looked at. */
export function leaveOut(page: Page, { exclude }: Selectors): Left {
  if (!isWritten(exclude)) return { page, excluded: [], selected: null };
  const selected = selectNodes(page, exclude, Infinity);
  // Without these there is no page.
  const nodes = selected.outcome === 'matched' ? selected.nodes.filter(({ tag }) => !WHOLE.has(tag)) : [];
  const excluded = outermost(nodes);
  return excluded.length === 0
    ? { page, excluded, selected }
    : { page: withoutNodes(page, new Set(excluded)), excluded, selected };
}

const WHOLE = new Set(['html', 'body']);

/** Whether there is a selector: fields that were left empty have none. */
export const isWritten = (selector: unknown): selector is string =>
  typeof selector === 'string' && selector.trim() !== '';

/** Those of some elements that stand in no other of them. */
export function outermost(nodes: PageNode[]): PageNode[] {
  const all = new Set(nodes);
  return nodes.filter((node) => {
    for (let at = node.parent; at !== null; at = at.parent) if (all.has(at)) return false;
    return true;
  });
}
