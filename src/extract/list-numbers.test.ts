import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { readBlocks } from './blocks.ts';
import { joinBlocks } from './body.ts';

const textOf = (body: string) =>
  joinBlocks(readBlocks(parsePage(`<html><body>${body}</body></html>`, { url: 'https://post.example/a' })))
    .text;

describe('the numbers of lists', () => {
  it.each([
    ['items', '<ol><li>Trim<li>Light</ol>', '1. Trim\n\n2. Light'],
    [
      'only the first block of an item',
      '<ol><li><p>Trim</p><p>Well</p><li>Light</ol>',
      '1. Trim\n\nWell\n\n2. Light',
    ],
    [
      'where the list says',
      '<ol start="4"><li>Trim<li value="9">Light<li>Wind</ol>',
      '4. Trim\n\n9. Light\n\n10. Wind',
    ],
    [
      'lists in lists',
      '<ol><li>Trim<ol><li>Cut</ol><p>Wait</p><li>Light</ol>',
      '1. Trim\n\n1. Cut\n\nWait\n\n2. Light',
    ],
    [
      'not those that stand there',
      '<ol><li>1. Trim<li><b>2</b>: Light<li>3rd turn</ol>',
      '1. Trim\n\n2: Light\n\n3. 3rd turn',
    ],
    ['no bullets', '<ul><li>Trim</ul>', 'Trim'],
    ['a list of bullets in a numbered one', '<ol><li>Trim<ul><li>Cut</ul></ol>', '1. Trim\n\nCut'],
    [
      'letters',
      '<ol type="a" start="26"><li>Trim<li>Light<li>AC) Wind</ol>',
      'z. Trim\n\naa. Light\n\nab. AC) Wind',
    ],
    [
      'as a style has them',
      '<ol style="list-style-type: upper-roman" start="4"><li>Trim<li>V. Light</ol><ol type="A"><li>Wind</ol>',
      'IV. Trim\n\nV. Light\n\nA. Wind',
    ],
    ['backwards', '<ol reversed><li>Trim<li>Light</ol>', '2. Trim\n\n1. Light'],
    ['not those with zeros', '<ol><li>01 Trim</ol>', '01 Trim'],
    ['no marks of other kinds', '<ol type="x"><li>Trim</ol>', 'Trim'],
    [
      'no lists without their numbers',
      '<ol class="list-unstyled"><li>Trim</ol><ol style="list-style: none"><li>Light</ol><ol class="steps bullet-list"><li>Wind</ol>',
      'Trim\n\nLight\n\nWind',
    ],
    ['no numbers that are none', '<ol start="x"><li value="-3">Trim</ol>', '1. Trim'],
  ])('%s', (_, body, text) => {
    expect(textOf(body)).toBe(text);
  });

  it('looks at any style for a moment only', () => {
    expect(textOf(`<ol style="${'list-style:'.repeat(100_000)}"><li>Trim</ol>`)).toBe('1. Trim');
  });

  it('counts a long list once', () => {
    const items = Array.from({ length: 4_000 }, (_, i) => `<li>turn number ${i}</li>`).join('');
    expect(textOf(`<ol>${items}</ol>`).endsWith('\n\n4000. turn number 3999')).toBe(true);
  });
});
