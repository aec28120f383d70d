import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { readBlocks } from './blocks.ts';
import { explainPage } from './index.ts';

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

  it.each([
    ['a capital after a small letter', '<p><b>Lens</b><span>Glass of 1870</span></p>', 'Lens Glass of 1870'],
    [
      'with letters of other languages',
      '<p><b>Leuchtfeuer größe</b>Übersicht</p>',
      'Leuchtfeuer größe Übersicht',
    ],
    ['no drop cap', '<p><span>T</span>he keeper</p>', 'The keeper'],
    ['no end of a word', '<p><a href="/l">lamp</a>s and 3<sup>rd</sup></p>', 'lamps and 3rd'],
    ['no mark', '<p>Lampwatch<sup>SM</sup></p>', 'LampwatchSM'],
    ['not twice', '<p><b>Lens</b> <span>Glass</span><br>Wick</p>', 'Lens Glass Wick'],
    ['not within a text', '<p>the iLamp</p>', 'the iLamp'],
  ])('keeps elements of a line apart that only their style does: %s', (_, body, text) => {
    expect(textsOf(body)).toEqual([text]);
  });

  it('reads the words of a ruby in their line, and not how they are pronounced', () => {
    const body = '<p>前の<ruby><rb>弾劾</rb><rp>（</rp><rt>だんがい</rt><rp>）</rp></ruby>訴追</p>';
    expect(textsOf(body)).toEqual(['前の弾劾訴追']);
  });
});

describe('caps', () => {
  const url = 'https://post.example/news/a-book';
  const book = (paragraphs: number) =>
    `<html><body><h1>A book</h1>${Array.from({ length: paragraphs }, (_, i) => `<p>In chapter ${i} the keeper of the harbour tied all of the boats again.</p>`).join('')}</body></html>`;

  it.each([
    ['a long page', 6_000, {}, undefined],
    ['more blocks than are read', 12_000, {}, 'blocks'],
    ['more nodes than are read', 400, { maxNodes: 300 }, 'nodes'],
    ['both', 12_100, { maxNodes: 24_150 }, 'nodes, blocks'],
  ])('are told: %s', (_name, paragraphs, caps, cut) => {
    const page = parsePage(book(paragraphs), { url, ...caps });
    const { extraction, blocks } = explainPage(page);
    expect(extraction.evidence.truncated).toBe(cut);
    const last = blocks.at(-1);
    if (cut !== undefined) expect(last?.why).toEqual([`the page has more ${cut} than are read`]);
    else expect(last?.text).toContain(`In chapter ${paragraphs - 1} `);
  });
});

describe('words of a block', () => {
  const wordsOf = (text: string) =>
    readBlocks(parsePage(`<p>${text}</p>`, { url: 'https://post.example/a' }))[0]?.words;
  it.each([
    ['The lamps — all of them — are on.', 9],
    ['灯台の明かりが、火曜の夜に戻った。', 8],
    ['灯塔的灯，星期二晚上又亮了。', 6],
    ['ไฟของประภาคารกลับมาสว่างอีกครั้งในคืนวันอังคาร', 10],
  ])('are counted as everywhere: %s', (text, words) => expect(wordsOf(text)).toBe(words));
});
