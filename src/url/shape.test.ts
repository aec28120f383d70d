import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isSingle, shapesOf } from './shape.ts';

it.each([
  ['/', '/', '/', '/'],
  ['/politics/', '/politics/', '/{w}', '/{w}'],
  ['/2024/06/05/why-the-sea-is-salt', '/{y}/{m}/{m}/{slug4}', '/{y}/{m}/{m}/{slug4}', '/{y}/{m}/{m}/{slug}'],
  ['/politics/short-name', '/politics/{slug2}', '/{w}/{slug2}', '/{w}/{slug}'],
  ['/sport/some-long-name-with-12345.html', '/sport/{slug4#}.html', '/{w}/{slug4}.html', '/{w}/{slug}.html'],
  ['/article.php?id=a1b2', '/article.php?id={id}', '/{w}.php?id={v}', '/article.php?…'],
  ['/article.php?id=77&utm_source=x', '/article.php?id={n}', '/{w}.php?id={v}', '/article.php?…'],
  ['/story/123456', '/story/{n}', '/{w}/{n}', '/{w}/{n}'],
  ['/page2', '/page{n}', '/page{n}', '/{id}'],
  ['/20240605/x', '/{date}/x', '/{date}/{w}', '/{date}/{w}'],
  [
    '/%E6%9D%B1%E4%BA%AC%E3%81%AE%E6%98%A5%E3%81%AE%E8%A9%B1%E3%81%A8%E6%B5%B7',
    '/{slug4}',
    '/{slug4}',
    '/{slug}',
  ],
])('%s', (path, exact, general, coarse) => {
  expect(shapesOf(`https://example.com${path}`)).toEqual([exact, general, coarse]);
});

it('has a shape for every address, without what a database cannot hold', () => {
  expect(shapesOf('mailto:a@b')).toBeNull();
  expect(shapesOf('nonsense')).toBeNull();
  fc.assert(
    fc.property(fc.webPath(), fc.string(), (path, query) => {
      const shapes = shapesOf(`https://example.com${path}?${query}`)!;
      for (const shape of shapes) expect(shape).not.toContain('\u0000');
    }),
  );
});

it('knows whether a shape names one address', () => {
  expect(isSingle('/about/team')).toBe(true);
  expect(isSingle('/about/{slug2}')).toBe(false);
  expect(isSingle('/article.php?…')).toBe(false);
});
