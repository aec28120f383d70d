import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { readBlocks } from './blocks.ts';

describe('marks of footnotes', () => {
  it.each([
    ['a number that leads down the page', 'bright<sup><a href="#fn1">1</a></sup>.', 'bright.'],
    [
      'in brackets',
      'bright<sup id="r"><a href="/wiki/Lamp#cite_note-2"><span>[</span>2]</a></sup>.',
      'bright.',
    ],
    ['in the link', 'bright<a href="#_ftn3"><sup>3</sup></a>.', 'bright.'],
    ['called so', 'bright<sup class="footnoteref"><a href="javascript:;">4</a></sup>.', 'bright.'],
    ['not a number that leads nowhere', '10 m<sup>2</sup>', '10 m2'],
    ['not a number that leads away', 'bright<sup><a href="/lamps">2</a></sup>', 'bright2'],
    ['not a word', '4<sup><a href="#a">th</a></sup> lamp', '4th lamp'],
  ])('%s', (_, body, text) => {
    const page = parsePage(`<html><body><p>${body}</p></body></html>`, { url: 'https://post.example/a' });
    expect(readBlocks(page).map((block) => block.text)).toEqual([text]);
  });
});
