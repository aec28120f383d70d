import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { cleanName } from './authors.ts';
import { extractPage } from './index.ts';

const TEXT = `<p>${'The keeper of the lamp went up the stairs each evening and wrote down what he saw. '.repeat(4)}</p>`;
const HEADLINE = '<h1>A lamp for the keeper of the harbour</h1>';
const declared = (name: string) => `<meta name="author" content="${name}">`;

function authorsOf(head: string, body: string): string[] {
  const html = `<head>${head}</head><body>${body}</body>`;
  return extractPage(parsePage(html, { url: 'https://post.example/stories/lamp' })).authors;
}

describe('authors', () => {
  it.each([['KatieS'], ['NOC Admin'], ['webteam']])(
    'are those the reader sees where only the account %s is declared',
    (account) => {
      const byline = '<p>by <a href="/authors/ada-lund">Ada Lund</a></p>';
      expect(authorsOf(declared(account), HEADLINE + byline + TEXT)).toEqual(['Ada Lund']);
      expect(authorsOf(declared(account), HEADLINE + TEXT)).toEqual([account]);
    },
  );

  it('are those declared where these are names', () => {
    const byline = '<p>by <a href="/authors/ada-lund">Ada Lund</a></p>';
    expect(authorsOf(declared('Jon Berg'), HEADLINE + byline + TEXT)).toEqual(['Jon Berg']);
  });

  it('stand after "written by" at the end of the text', () => {
    expect(authorsOf('', `${HEADLINE}${TEXT.repeat(9)}<p>Written by Ada Lund and Jon Berg</p>`)).toEqual([
      'Ada Lund',
      'Jon Berg',
    ]);
    expect(authorsOf('', `${HEADLINE}${TEXT.repeat(9)}<p>Written by hand and by moonlight</p>`)).toEqual([]);
  });

  it('are the first line of a box about them', () => {
    const box = (name: string) =>
      `<div class="post_author-box"><div>${name}</div><div>${'has kept lamps for twenty years. '.repeat(4)}</div></div>`;
    expect(authorsOf('', HEADLINE + box('Ada Lund') + TEXT)).toEqual(['Ada Lund']);
    expect(authorsOf('', HEADLINE + box('who keeps the lamps') + TEXT)).toEqual([]);
  });

  it('stand below a label for one or many', () => {
    expect(authorsOf('', `${HEADLINE}<h6>Author(s)</h6><ul><li>Ada Lund</li></ul>${TEXT}`)).toEqual([
      'Ada Lund',
    ]);
  });

  it.each([
    ['I review different modules and games', null],
    ['Rosa van der Lund', 'Rosa van der Lund'],
    ['Luís da Costa e Silva', 'Luís da Costa e Silva'],
  ])('a sentence is no name: %j', (text, expected) => expect(cleanName(text)).toBe(expected));
});
