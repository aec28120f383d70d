import { expect, it } from 'vitest';
import { extractPage } from '../extract/index.ts';
import { parsePage } from './index.ts';

const story = Array.from(
  { length: 12 },
  (_, n) =>
    `<p>Part ${n} tells how the harbour pilots of a small town bring the ferries in at night, when the wind turns and the lamps along the mole are hard to tell from the stars.</p>`,
).join('');
const read = (body: string) =>
  extractPage(
    parsePage(
      `<html><head><title>Night pilots</title></head><body><h1>Night pilots</h1>${body}</body></html>`,
      { url: 'https://pier.example/night-pilots' },
    ),
  );

it('a text for readers without scripts is read where the page has no other', () => {
  const { text, pageType } = read(`<div><script>load()</script><noscript>${story}</noscript></div>`);
  expect(text).toContain('Part 0 tells');
  expect(text).toContain('Part 11 tells');
  expect(pageType).toBe('article');
});

it('it is not where the page has one', () => {
  const other = story.replace(/Part/g, 'Verse');
  const { text } = read(`<main>${story}</main><div><noscript>${other}</noscript></div>`);
  expect(text).toContain('Part 11 tells');
  expect(text).not.toContain('Verse');
});

it.each([
  ['a demand for scripts', `<p>This page needs JavaScript.</p>${story}`],
  ['a few lines', '<p>Pictures of the harbour by night.</p>'],
])('nor is %s', (_name, inside) => {
  const { text } = read(`<div id="root"></div><noscript>${inside}</noscript>`);
  expect(text).not.toMatch(/Part|JavaScript|Pictures/);
});
