import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { listMarkdown, readMarkdown, root } from './markdown-files.ts';
import { anchorOf } from './pages/markdown.ts';

const files = listMarkdown();

test.each([
  ['What a URL can be', 'what-a-url-can-be'],
  ['GET /api/v1/channels/:id', 'get-apiv1channelsid'],
  ['`sources set`', 'sources-set'],
  ['A [link](there.md), and "more"', 'a-link-and-more'],
])('a heading %s is found as %s', (heading, anchor) => {
  expect(anchorOf(heading)).toBe(anchor);
});

test('every link leads to a file that there is, and to a heading of it', () => {
  const broken: string[] = [];
  let looked = 0;
  for (const { path, links } of files) {
    for (const link of links) {
      if (/^[a-z][a-z0-9+.-]*:/i.test(link)) continue;
      looked += 1;
      const [target = '', anchor] = link.split('#') as [string, string?];
      const file = target === '' ? path : normalize(join(dirname(path), decodeURI(target)));
      if (!existsSync(join(root, file))) broken.push(`${path}: ${link}`);
      else if (anchor !== undefined && file.endsWith('.md') && !readMarkdown(file).anchors.has(anchor))
        broken.push(`${path}: ${link} has no such heading`);
    }
  }
  expect(looked).toBeGreaterThan(150);
  expect(broken).toEqual([]);
});

test('every guide and reference page is named by the index of docs', () => {
  const index = readMarkdown('docs/README.md');
  const named = new Set(index.links.map((link) => normalize(join('docs', link.split('#')[0]!))));
  const pages = ['docs/guides', 'docs/reference'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => join(folder, name)),
  );
  expect(pages.filter((page) => !named.has(page))).toEqual([]);
});

test('every decision is named by their index', () => {
  const named = new Set(readMarkdown('docs/decisions/README.md').links);
  const all = readdirSync(join(root, 'docs/decisions')).filter((name) => name !== 'README.md');
  expect(all.filter((name) => !named.has(name))).toEqual([]);
});

test('every picture is shown somewhere', () => {
  const shown = new Set(
    files.flatMap(({ path, links }) => links.map((link) => normalize(join(dirname(path), link)))),
  );
  const pictures = readdirSync(join(root, 'docs/screens')).map((name) => join('docs/screens', name));
  expect(pictures.filter((name) => !shown.has(name))).toEqual([]);
});
