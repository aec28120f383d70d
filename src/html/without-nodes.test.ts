import { expect, it } from 'vitest';
import { attribute, nextNode, type PageNode, parsePage, textOf, withoutNodes } from './index.ts';

const page = parsePage(
  `<html lang="en"><head><title>Ropes</title><meta name="a" content="1"><script type="application/ld+json">{"a":1}</script></head>
   <body class="post"><p>One <b>rope</b>.</p><div id="x"><meta name="b"><a href="/b">Two</a><script type="application/ld+json">{"b":2}</script></div>
   <script type="application/ld+json">{"c":3}</script><p><a href="/c">Three</a></p></body></html>`,
  { url: 'https://post.example/a' },
);

function find(tag: string): PageNode {
  for (let at: PageNode | null = page.root; at !== null; at = nextNode(at, page.root))
    if (at.tag === tag) return at;
  throw new Error(tag);
}

it('is a page of its own, without the elements and what they hold', () => {
  const left = withoutNodes(page, new Set([find('div')]));
  expect(textOf(left.body)).toBe('One rope. Three');
  expect(left.anchors.map((link) => attribute(link, 'href'))).toEqual(['/c']);
  expect(left.metas.map((meta) => attribute(meta, 'name'))).toEqual(['a']);
  expect(left.jsonLd).toEqual(['{"a":1}', '{"c":3}']);
  expect(attribute(left.body, 'class')).toBe('post');
  expect(left.nodes.map(({ index }) => index)).toEqual(left.nodes.map((_, i) => i));
  expect(left.nodes.slice(1).every((node) => left.nodes[node.parent!.index] === node.parent)).toBe(true);
  // The page itself is as it was.
  expect(textOf(page.body)).toBe('One rope. Two Three');
});

it('may lose its head, or nothing', () => {
  expect(withoutNodes(page, new Set([find('head')]))).toMatchObject({
    title: 'Ropes',
    metas: [{}],
    jsonLd: { length: 2 },
  });
  expect(withoutNodes(page, new Set()).nodeCount).toBe(page.nodeCount);
});
