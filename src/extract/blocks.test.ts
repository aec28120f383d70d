import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { readBlocks } from './blocks.ts';

const textsOf = (body: string) =>
  readBlocks(parsePage(`<html><body>${body}</body></html>`, { url: 'https://post.example/a' })).map(
    (block) => block.text,
  );

describe('readBlocks', () => {
  it.each([
    [
      'a card by its role',
      '<p>The keeper<span role="tooltip">Ana Lund, 54</span> left.</p>',
      'The keeper left.',
    ],
    [
      'a card in the wrapper of its word',
      '<p>So <span class="rollover-person"><a href="/p">Ana Lund</a><span class="rollover-card">All about her</span></span> left.</p>',
      'So Ana Lund left.',
    ],
    [
      'a bubble in a tooltip',
      '<p>The lens<span class="Term_tooltip__8V"><span class="Term_tooltipBubble__mu">A glass.</span></span> broke.</p>',
      'The lens broke.',
    ],
    [
      'not the word that has a tooltip',
      '<p>The <span class="has-tooltip">lens</span> broke.</p>',
      'The lens broke.',
    ],
  ])('leaves out cards that only show under the pointer: %s', (_, body, text) => {
    expect(textsOf(body)).toEqual([text]);
  });

  it.each([
    ['<a href="/x">The keeper</a> left', 10],
    ['<a name="top"/><p>The keeper left', 0],
    ['<a href="/x"><b>The</b> keeper</a> left', 9],
  ])('takes for a link what leads somewhere: %s', (body, chars) => {
    const blocks = readBlocks(
      parsePage(`<html><body>${body}</body></html>`, { url: 'https://post.example/a' }),
    );
    expect(blocks.map((block) => block.linkChars)).toEqual([chars]);
  });

  it('reads ruby in its line', () => {
    expect(
      textsOf('<p>前の<ruby><rb>弾劾</rb><rp>（</rp><rt>だんがい</rt><rp>）</rp></ruby>訴追</p>'),
    ).toEqual(['前の弾劾（だんがい）訴追']);
  });
});
