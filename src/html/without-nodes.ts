import { PageNode } from './node.ts';
import type { Page } from './parse-page.ts';

/**
 * The page as it would be without some elements and all they hold: for whoever reads it they never were there. A copy,
 * because the same page may be read again with others. The title, counts and addresses of scripts stay those of the whole.
 */
export function withoutNodes(page: Page, dropped: ReadonlySet<PageNode>): Page {
  const copies: (PageNode | null)[] = [];
  const nodes: PageNode[] = [];
  const jsonLd: string[] = [];
  let scripts = 0;
  for (let i = 0; i < page.nodeCount; i++) {
    const node = page.nodes[i]!;
    const parent = node.parent === null ? null : copies[node.parent.index]!;
    // The n-th marked script is the n-th text.
    const data = node.tag === 'script' && node.text === 'ld' ? page.jsonLd[scripts++] : undefined;
    const isGone = dropped.has(node) || (node.parent !== null && parent === null);
    copies.push(isGone ? null : copyUnder(node, parent, nodes));
    if (!isGone && data !== undefined) jsonLd.push(data);
  }
  const left = (list: readonly PageNode[]) => list.flatMap(({ index }) => copies[index] ?? []);
  return {
    ...page,
    root: copies[page.root.index] ?? page.root,
    body: copies[page.body.index] ?? page.body,
    metas: left(page.metas),
    links: left(page.links),
    anchors: left(page.anchors),
    jsonLd,
    nodes,
    nodeCount: nodes.length,
  };
}

function copyUnder(node: PageNode, parent: PageNode | null, nodes: PageNode[]): PageNode {
  const copy = new PageNode(node.tag, node.flags, parent, nodes.length, node.text);
  copy.attributes = node.attributes;
  copy.attributesFrom = node.attributesFrom;
  copy.attributesTo = node.attributesTo;
  nodes.push(copy);
  if (parent === null) return copy;
  if (parent.last === null) parent.first = copy;
  else parent.last.next = copy;
  parent.last = copy;
  return copy;
}
