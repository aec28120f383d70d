import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { isDecoration } from './decorations.ts';
import { extractPage } from './index.ts';
import { bestOfSrcset, parseSrcset } from './srcset.ts';

const TEXT = `<p>${'The keeper of the lamp went up the stairs each evening and wrote down what he saw. '.repeat(4)}</p>`;

function imagesOf(head: string, pictures: string) {
  const html = `<head>${head}</head><body><h1>A lamp for the keeper of the harbour</h1>${TEXT}${pictures}${TEXT.replaceAll('keeper', 'pilot')}</body>`;
  return extractPage(parsePage(html, { url: 'https://post.example/stories/lamp' }));
}

describe('srcset', () => {
  it.each([
    ['a.jpg 320w, b.jpg 1280w, c.jpg 640w', 'b.jpg'],
    ['a.jpg, b.jpg 2x', 'b.jpg'],
    ['a.jpg 1x,b.jpg 1.5x', 'b.jpg'],
    ['https://i.example/w_1,h_2/a.jpg 2x', 'https://i.example/w_1,h_2/a.jpg'],
    ['a.jpg,b.jpg', 'a.jpg,b.jpg'],
    [' , a.jpg 100w ,, ', 'a.jpg'],
    ['data:image/gif;base64,AAAA 2x, a.jpg 1x', 'a.jpg'],
    ['a.jpg nonsense, b.jpg 2x', 'b.jpg'],
    ['', undefined],
  ])('of %j the best is %s', (srcset, expected) => {
    expect(bestOfSrcset(srcset)?.url).toBe(expected);
  });

  it('takes hostile text in its stride', () => {
    expect(parseSrcset(`${'a'.repeat(50_000)} x `.repeat(3))).toHaveLength(1);
    expect(parseSrcset(','.repeat(100_000))).toEqual([]);
    fc.assert(fc.property(fc.string(), (text) => parseSrcset(text).every(({ url }) => text.includes(url))));
  });
});

describe('a decoration', () => {
  const at = (path: string) => new URL(path, 'https://post.example/').href;

  it.each([
    'https://ad.example.com/300x250/soap.jpg',
    'https://ad.doubleclick.net/x;sz=300x250',
    '/images/printButton.png',
    '/i/arrow3.jpg',
    '/i/text-large.png',
    '/i/tweet_14x14.png',
    '/img/1x1_place.jpg',
    '/shareIcons/del.png',
    '/wp-content/themes/post/images/header.jpg',
    '/wp-content/plugins/share/more.png',
    '/pub_logos/agency.png',
  ])('is %s', (path) => {
    expect(isDecoration(at(path), null, null)).toBe(true);
  });

  it.each([
    '/2008/01/160_search_at_sea.jpg',
    '/news/news_12490.jpg',
    '/uploads/google-china.jpg',
    '/news/image/191756-3x2-285x190.jpg',
    '/photos/804a421f_0-small.jpg',
    '/uploads/how-the-star-got-its-arrow.png',
    '/wp-content/themes/post/thumb.php?src=/uploads/harbour.jpg',
  ])('is not %s', (path) => {
    expect(isDecoration(at(path), null, null)).toBe(false);
  });

  it('is told by its size where the page tells it', () => {
    expect(isDecoration(at('/harbour.jpg'), 728, 90)).toBe(true);
    expect(isDecoration(at('/harbour.jpg'), 728, 400)).toBe(false);
    expect(isDecoration(at('/new-logo-of-the-port.png'), 728, 400)).toBe(false);
    expect(isDecoration(at('/avatars/ada.png'), 728, 400)).toBe(true);
  });
});

describe('images of a page', () => {
  it('are those of AMP too, once each', () => {
    const amp = (name: string) =>
      `<amp-img src="/${name}.jpg" srcset="/${name}-wide.jpg 1600w, /${name}.jpg 800w" width="800" height="600"><noscript><img src="/${name}-wide.jpg"></noscript></amp-img>`;
    expect(imagesOf('', amp('quay') + amp('lamp')).images.map(({ url, width }) => [url, width])).toEqual([
      ['https://post.example/quay-wide.jpg', 1600],
      ['https://post.example/lamp-wide.jpg', 1600],
    ]);
  });

  it('are the declared ones first, then those of the text, each once', () => {
    const head =
      '<meta property="og:image" content="/lead.jpg"><meta name="twitter:image" content="/card.jpg">';
    const { images, leadImage } = imagesOf(
      head,
      '<img src="/lead.jpg" alt="The lamp"><img src="/b.png" alt="A ship">',
    );
    expect(leadImage).toBe('https://post.example/lead.jpg');
    expect(images.map(({ url, alt, from }) => [url.slice(20), alt, from])).toEqual([
      ['/lead.jpg', 'The lamp', 'og'],
      ['/card.jpg', null, 'og'],
      ['/b.png', 'A ship', 'body'],
    ]);
  });

  it('keep the sizes of several declared images apart', () => {
    const one = (n: number) =>
      `<meta property="og:image" content="/${n}.jpg"><meta property="og:image:width" content="${n}00"><meta property="og:image:height" content="${n}0">`;
    expect(imagesOf(one(7) + one(9), '').images).toMatchObject([
      { url: 'https://post.example/7.jpg', width: 700, height: 70 },
      { url: 'https://post.example/9.jpg', width: 900, height: 90 },
    ]);
  });

  it('read sizes from JSON-LD', () => {
    const ld =
      '<script type="application/ld+json">{"@type":"Article","headline":"A lamp","image":[{"@type":"ImageObject","url":"/ld.jpg","width":1200,"height":"675px"},"/two.jpg"]}</script>';
    expect(imagesOf(ld, '').images).toEqual([
      { url: 'https://post.example/ld.jpg', alt: null, width: 1200, height: 675, from: 'jsonld' },
      { url: 'https://post.example/two.jpg', alt: null, width: null, height: null, from: 'jsonld' },
    ]);
  });

  it('choose the largest of picture, srcset and lazy sources, in the size of the candidate', () => {
    const picture = `<picture><source type="image/svg+xml" srcset="/drawing.svg 9000w"><source srcset="/s.webp 400w, /l.webp 1600w">
      <img src="/small.jpg" srcset="/m.jpg 800w" width="400" height="300" alt=" A  lamp "></picture>`;
    expect(imagesOf('', picture).images).toEqual([
      { url: 'https://post.example/l.webp', alt: 'A lamp', width: 1600, height: 1200, from: 'body' },
    ]);
    const lazy = '<img src="data:image/gif;base64,AA" data-src="/lazy.jpg" width="640" height="360">';
    expect(imagesOf('', lazy).images).toMatchObject([
      { url: 'https://post.example/lazy.jpg', width: 640, height: 360 },
    ]);
  });

  it('are raster and no decoration', () => {
    const pictures =
      '<img src="/drawing.svg?v=2"><img src="/beacon.gif" width="1" height="1"><img src="/img/avatar-3.png"><img src="/film.mp4"><img src="javascript:alert(1)"><img src="/real.jpg">';
    expect(
      imagesOf('<meta property="og:image" content="/brand.svg">', pictures).images.map(({ url }) => url),
    ).toEqual(['https://post.example/real.jpg']);
  });

  it('lead with a picture of the article rather than with the logo of the site', () => {
    const logo = '<meta property="og:image" content="/assets/logo.png">';
    expect(imagesOf(logo, '<img src="/real.jpg">').leadImage).toBe('https://post.example/real.jpg');
    expect(imagesOf(logo, '').leadImage).toBe('https://post.example/assets/logo.png');
  });

  it('are those of the text, not buttons, advertisements and teasers around it', () => {
    const pictures = [
      '<a href="https://twitter.com/share?u=x"><img src="/img/t.png"></a>',
      '<a href="mailto:?body=x"><img src="/img/m.png"></a>',
      '<div class="author-box"><img src="/people/ada.jpg" alt="Ada Lund"></div>',
      '<div class="related"><a href="/stories/other"><img src="/other.jpg" width="300"></a></div>',
      '<div class="ad-slot"><img src="/soap.jpg" width="300" height="250"></div>',
      '<div class="related-media"><div class="photo"><img src="/harbour.jpg"></div></div>',
      '<a href="/ship-large.jpg"><img src="/ship.jpg"></a>',
      '<div class="card"><figure><img src="/map.png" width="600"></figure></div>',
    ];
    expect(imagesOf('', pictures.join('')).images.map(({ url }) => new URL(url).pathname)).toEqual([
      '/harbour.jpg',
      '/ship.jpg',
      '/map.png',
    ]);
  });

  it('lead with what is no portrait or preview', () => {
    const { images } = imagesOf('', '<img src="/ada.jpg" width="96"><img src="/ship.jpg" width="600">');
    expect(images.map(({ url }) => url.slice(20))).toEqual(['/ship.jpg', '/ada.jpg']);
  });

  it('lead with a picture of the article rather than with what the site declares everywhere', () => {
    for (const name of ['og-default.png', 'wp-content/themes/post/share.jpg', 'brand_90x60.jpg']) {
      const declared = `<meta property="og:image" content="/${name}">`;
      expect(imagesOf(declared, '<img src="/real.jpg">').leadImage, name).toBe(
        'https://post.example/real.jpg',
      );
      expect(imagesOf(declared, '').leadImage, name).toBe(`https://post.example/${name}`);
    }
    const own = '<meta property="og:image" content="/sites/default/files/why-the-harbour-has-no-logo.jpg">';
    expect(imagesOf(own, '<img src="/real.jpg">').leadImage).toContain('no-logo');
  });

  it('are bounded in number', () => {
    const many = Array.from({ length: 500 }, (_, i) => `<img src="/${i}.jpg">`).join('');
    const page = parsePage(many, { url: 'https://post.example/' });
    expect(extractPage(page, { selectors: { image: 'img' } }).images).toHaveLength(50);
  });
});
