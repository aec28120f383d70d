import { describe, expect, it } from 'vitest';
import { bylineTexts, creditTexts, namedWriter, portrayedName } from './byline-lines.ts';

describe('lines that name the author', () => {
  it.each([
    ['By: Ada Lund', 'Ada Lund'],
    ['Von: Ada Lund, Jon Berg', 'Ada Lund, Jon Berg'],
    ['by: Ada Lund, May 17, 2024', 'Ada Lund, May 17, 2024'],
    ['Author: Ada Lund', 'Ada Lund'],
    ['03/01/2017 by Ada Lund, Keeper of the Lamp', 'Ada Lund, Keeper of the Lamp'],
    ['May 17, 2024 · 3 min read · By Ada Lund', 'Ada Lund'],
  ])('%j gives %j', (line, expected) => expect(bylineTexts([line])).toEqual([expected]));

  it.each([
    '12.31 Uhr: Ein Wärter wurde mutmaßlich von Fischern gerettet',
    'In 2024 the lamp was lit by Keepers alone',
    'Author of twelve books about lamps',
  ])('%j names nobody', (line) => expect(bylineTexts([line])).toEqual([]));

  it('may be the one below "Article by"', () => {
    expect(bylineTexts(['Article by', 'Ada Lund'])).toEqual(['Ada Lund']);
  });
});

describe('lines that give credit', () => {
  const credits = (text: string) => creditTexts([{ text, chars: text.length }]);

  it.each([
    ['Autorin/Autor Ada Lund', ['Ada Lund']],
    ['This post was written by Ada Lund, MD, keeper of lamps in Lampstadt.', ['Ada Lund']],
    ['This blog post was written by Ada Lund', ['Ada Lund']],
    ['The lamp was written by hand', []],
    ['Authors of the harbour', []],
  ])('%j names %j', (line, expected) => expect(credits(line)).toEqual(expected));

  it('end at the first sentence', () => {
    expect(namedWriter('This article was written by Ada Lund. She keeps lamps.')).toBe('Ada Lund');
    expect(namedWriter('Ada Lund keeps lamps')).toBeNull();
  });
});

describe('a name with a portrait', () => {
  const lines = (text: string, after = 1) => [{ text, after }];
  const portrayed = (text: string, caption: string, title = 'A lamp for the keeper') =>
    portrayedName(lines(text), title, () => [caption]);

  it.each(['Ada Lund', 'Ada Lund, keeper', 'Photo of Ada Lund', 'Ada Lund Image', 'headshot of Ada Lund'])(
    'is known by the caption %j',
    (caption) => expect(portrayed('Ada Lund', caption)).toBe('Ada Lund'),
  );

  it.each([
    ['Ada Lund', 'Ada Lund and her lamps at sea', 'a scene'],
    ['Lamp Images', 'Lamp Images', 'an agency'],
    ['HARBOUR NEWS', 'HARBOUR NEWS', 'a section'],
  ])('is not %j with the caption %j: %s', (name, caption) => expect(portrayed(name, caption)).toBeNull());

  it('is neither a part of the title nor far from the headline', () => {
    expect(portrayed('Harbour Lamps', 'Harbour Lamps', 'A lamp - Harbour Lamps')).toBeNull();
    expect(portrayedName(lines('Ada Lund', 9), '', () => ['Ada Lund'])).toBeNull();
  });
});
