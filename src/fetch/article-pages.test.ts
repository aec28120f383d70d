import { expect, it } from 'vitest';
import { ArticlePages } from './article-pages.ts';

it('a domain is not asked again after three that were no pages, unless one ever was', () => {
  const pages = new ArticlePages();
  for (let n = 0; n < 3; n += 1) {
    expect(pages.mayAsk(1n)).toBe(true);
    pages.note(1n, false);
    pages.note(2n, n === 1);
  }
  expect([pages.mayAsk(1n), pages.mayAsk(2n), pages.mayAsk(3n)]).toEqual([false, true, true]);
});
