import { expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { extractPage } from './extract-page.ts';

const describe = (head: string): string | null =>
  extractPage(parsePage(`<title>The mayor opens a bridge</title>${head}`, { url: 'https://post.test/b' }))
    .description;
const meta = (name: string, content: string): string => `<meta name="${name}" content="${content}">`;

it.each([
  ['og:description comes first', [meta('description', 'One.'), meta('og:description', 'Two.')], 'Two.'],
  [
    'tags in it are none',
    [meta('description', '&lt;p&gt;A &lt;b&gt;new&lt;/b&gt; one.&lt;/p&gt;')],
    'A new one.',
  ],
  [
    'not the title',
    [meta('og:description', 'The mayor opens a bridge'), meta('description', 'One.')],
    'One.',
  ],
  ['nor the site', [meta('og:site_name', 'The Post'), meta('description', 'The Post')], null],
  ['nothing but signs', [meta('description', ':')], null],
] as const)('%s', (_name, head, wanted) => {
  expect(describe(head.join(''))).toBe(wanted);
});
