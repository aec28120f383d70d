import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { readBlocks } from './blocks.ts';
import { joinBlocks } from './body.ts';

const textOf = (body: string) =>
  joinBlocks(readBlocks(parsePage(`<html><body>${body}</body></html>`, { url: 'https://post.example/a' })))
    .text;

describe('code keeps its lines', () => {
  it.each([
    ['with their spaces', '<pre>\nfor lamp:\n    light()  \n</pre>', 'for lamp:\n    light()'],
    ['with empty ones, but one at a time', '<pre>\n\na\n \n\nb\n\n</pre>', 'a\n\nb'],
    ['written as elements', '<pre><div>a</div><div>  b</div></pre>', 'a\n  b'],
    [
      'written as elements, empty ones too',
      '<pre>\n<div>a\n</div><div><br></div>\n<div>b</div></pre>',
      'a\n\nb',
    ],
    ['written as a list', '<pre><ol><li>a<li>b</ol></pre>', 'a\nb'],
    ['parted by <br>', '<pre>a<br>b<br><br>c</pre>', 'a\nb\n\nc'],
    ['between paragraphs', '<p>x y</p><pre>a\nb</pre><p>c\nd</p>', 'x y\n\na\nb\n\nc d'],
    ['of Windows', '<pre>a\r\nb</pre>', 'a\nb'],
  ])('%s', (_, body, text) => {
    expect(textOf(body)).toBe(text);
  });

  it.each([
    ['in the line', '<pre><span class="lineno">1</span>a\n<span class="lineno">2</span>b</pre>', 'a\nb'],
    [
      'that are not copied',
      '<pre><i style="user-select: none">1</i>a\n<i style="user-select:none">2</i>b</pre>',
      'a\nb',
    ],
    [
      'in a table inside',
      '<pre><table><tr><td class="ln-numbers">1</td><td>a</td></tr><tr><td class="ln-numbers">2</td><td>  b</td></tr></table></pre>',
      'a\n  b',
    ],
    ['in a column', '<table><tr><td><pre>1\n2\n</pre></td><td><pre>a\nb</pre></td></tr></table>', 'a\nb'],
    ['in a column that says so', '<div class="gutter"><pre>9\n10\n</pre></div><pre>a\nb</pre>', 'a\nb'],
    ['not what a program prints', '<pre>1\n2\n3</pre>', '1\n2\n3'],
    ['not numbers of the code', '<pre><span class="number">1</span>\n</pre>', '1'],
  ])('and not their numbers: %s', (_, body, text) => {
    expect(textOf(body)).toBe(text);
  });
});

describe('lines of a paragraph', () => {
  it.each([
    ['stay lines', '<p>The lamps\nwere lit<br>by hand.</p>', 'The lamps were lit\nby hand.'],
    ['are paragraphs after two breaks', '<p>The lamps<br><br>were lit.</p>', 'The lamps\n\nwere lit.'],
    ['are not made by a break at the end', '<p>The lamps<br></p>', 'The lamps'],
  ])('%s', (_, body, text) => {
    expect(textOf(body)).toBe(text);
  });
});

describe('a table of data is written row by row', () => {
  it.each([
    ['with bars', '<table><tr><th>Lamp<th>Year<tr><td>Oil<td>1870</table>', 'Lamp | Year\nOil | 1870'],
    [
      'with empty cells',
      '<table><tr><th>a<th>b<th>c<tr><td>1<td><td>3<tr><td><td>2</table>',
      'a | b | c\n1 |  | 3\n | 2',
    ],
    [
      'with paragraphs in its cells',
      '<table><tr><td><p>a</p><p>b</p><td>c<tr><td>d<td>e</table>',
      'a b | c\nd | e',
    ],
    ['not a layout of one row', '<table><tr><td>a<td>b</table>', 'a\n\nb'],
    [
      'not a layout around tables',
      '<table><tr><td>menu<td>x<tr><td>y<td><table><tr><td>a<td>b<tr><td>c<td>d</table></table>',
      'menu\n\nx\n\ny\n\na | b\nc | d',
    ],
    ['not a column', '<table><tr><td>a<tr><td>b<tr><td>c</table>', 'a\n\nb\n\nc'],
    [
      'not paragraphs side by side',
      `<table><tr><td>a<td>${'word '.repeat(80)}<tr><td>b<td>c</table>`,
      `a\n\n${'word '.repeat(80).trim()}\n\nb\n\nc`,
    ],
  ])('%s', (_, body, text) => {
    expect(textOf(body)).toBe(text);
  });
});

describe('formulas stand in their sentence', () => {
  it.each([
    ['as a word', '<p>Let <math><mi>x</mi></math> be.</p>', 'Let $x$ be.'],
    [
      'once, where a renderer left its source behind',
      '<p>Let <span class="MathJax"><math><mi>x</mi></math></span><script type="math/tex">x</script> be.</p>',
      'Let $x$ be.',
    ],
    ['or alone', '<p>Let</p><div><math display="block"><mi>x</mi></math></div>', 'Let\n\n$$x$$'],
  ])('%s', (_, body, text) => {
    expect(textOf(body)).toBe(text);
  });
});

it('a part of a formula can be read alone, and a formula left out', () => {
  const page = parsePage(
    '<body><p>Let <span class="katex"><span><math><mi>x</mi></math></span> or x</span> be <math><mi>y</mi></math>.</p>',
    { url: 'https://post.example/a' },
  );
  const [, part] = page.nodes.filter(({ tag }) => tag === 'span');
  const formula = page.nodes.findLast(({ tag }) => tag === 'math');
  expect(readBlocks(page, part!).map(({ text }) => text)).toEqual(['$x$']);
  expect(readBlocks(page, page.body, new Set([formula!])).map(({ text }) => text)).toEqual(['Let $x$ be .']);
});

describe('handles of headings and notes are left out', () => {
  it.each([
    ['of a heading', '<h2>Lamps<a href="#lamps">#</a></h2>', 'Lamps'],
    ['in an element of its own', '<h2>Lamps <a href="/a#lamps"><span>¶</span></a></h2>', 'Lamps'],
    ['back from a note', '<p>See there. <a href="#r1">↩︎</a></p>', 'See there.'],
    [
      'back from a note of a wiki',
      '<p><a href="#cite_ref-a">^</a> <a href="#cite_ref-b"><sup><b>b</b></sup></a> Lund, 1870</p>',
      'Lund, 1870',
    ],
    [
      'to change a wiki',
      '<h2>Lamps<span class="mw-editsection">[<a href="/edit">edit</a>]</span></h2>',
      'Lamps',
    ],
    ['not a sign of the text', '<h2>C#</h2>', 'C#'],
    ['not a link that leads away', '<p>A <a href="/lamps">#</a></p>', 'A #'],
  ])('%s', (_, body, text) => {
    expect(textOf(body)).toBe(text);
  });
});

describe('joiners', () => {
  it.each([
    ['that spell a word stay', '<p>می\u200cخواهم</p>', 'می\u200cخواهم'],
    ['that make one sign of several stay', '<p>👩\u200d🚀</p>', '👩\u200d🚀'],
    [
      'that editors leave behind go',
      '<p>lamps\u200d and\u200c light\u200b</p><p>\u200d</p>',
      'lamps and light',
    ],
  ])('%s', (_, body, text) => {
    expect(textOf(body)).toBe(text);
  });
});
