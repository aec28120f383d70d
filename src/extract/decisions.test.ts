import { describe, expect, it } from 'vitest';
import { parsePage } from '../html/index.ts';
import { explainPage, extractPage } from './index.ts';

const prose = (about: string) =>
  `<p>People of the town spoke about ${about} for weeks, and those who had lived there longest said that nothing of the kind had happened in their time.</p>`;

const page = (parts: { head?: string; top?: string; body?: string; url?: string }) =>
  parsePage(
    `<html lang="en"><head>${parts.head ?? ''}</head><body>${parts.top ?? ''}<main>${parts.body ?? ''}${prose('the harbour')}${prose('the lamps')}${prose('the ferry')}</main></body></html>`,
    { url: parts.url ?? 'https://post.example/a' },
  );

describe('the title', () => {
  it.each([
    [
      'what <title> adds to og:title is the site, even as an h1',
      '<title>Harbour Data Blog: Lamps of the small harbour</title><meta property="og:title" content="Lamps of the small harbour">',
      '<h1>Harbour Data Blog</h1><h2>Why lamps</h2>',
      'Lamps of the small harbour',
    ],
    [
      'the h1 before other words in the head',
      '<title>10 tips for harbour lamps everyone needs</title><meta property="og:title" content="10 tips for harbour lamps everyone needs">',
      '<h1>Harbour lamps and what everyone learnt for a decade</h1>',
      'Harbour lamps and what everyone learnt for a decade',
    ],
    [
      'the declared one of two wordings of the same title',
      '<title>Lamps of the Harbour: A Guide for Beginners | Post</title><meta property="og:site_name" content="Post"><meta property="og:title" content="Lamps of the Harbour: A Guide for Beginners">',
      '<h1>Lamps of the Harbour, a Beginners Guide</h1>',
      'Lamps of the Harbour: A Guide for Beginners',
    ],
    [
      'the h1 where the year differs',
      '<title>Lamps of the harbour in 2024</title><meta property="og:title" content="Lamps of the harbour in 2024">',
      '<h1>Lamps of the harbour in 2025</h1>',
      'Lamps of the harbour in 2025',
    ],
    [
      'not an h1 that is a paragraph',
      '<title>Lamps of the harbour</title><meta property="og:title" content="Lamps of the harbour">',
      `<h1>${'Learn how the lamps of the harbour came to be what they are. '.repeat(4)}</h1>`,
      'Lamps of the harbour',
    ],
    [
      'an issue named after the site',
      '<title>Harbour Signal #18 – The night without lamps</title><meta property="og:site_name" content="Harbour Signal">',
      '<h1>Harbour Signal #18 – The night without lamps</h1>',
      'Harbour Signal #18 – The night without lamps',
    ],
  ])('is %s', (_name, head, body, expected) => {
    expect(extractPage(page({ head, body })).title).toBe(expected);
  });
});

describe('the date', () => {
  const declared = '<meta property="article:published_time" content="2025-06-24T09:00:00Z">';
  const day = (html: Parameters<typeof page>[0]) =>
    extractPage(page(html)).publishedAt?.toISOString().slice(0, 10) ?? null;

  it.each([
    ['the declared one', declared, '<h1>Lamps</h1>', '2025-06-24'],
    [
      'the earlier one the byline shows',
      declared,
      '<h1>Lamps</h1><p>Ada Lund</p><p>August 25, 2024</p>',
      '2024-08-25',
    ],
    [
      'the declared one when the byline says updated',
      declared,
      '<h1>Lamps</h1><p>Updated August 25, 2025</p>',
      '2025-06-24',
    ],
    [
      'the declared one when the label stands on the line before',
      declared,
      '<h1>Lamps</h1><p>Updated on</p><p>August 25, 2024</p>',
      '2025-06-24',
    ],
    [
      'the declared one when the byline shows a later day',
      declared,
      '<h1>Lamps</h1><p>August 25, 2025</p>',
      '2025-06-24',
    ],
    [
      'the declared one against 03/04/2024, which is two days',
      declared,
      '<h1>Lamps</h1><p>03/04/2024</p>',
      '2025-06-24',
    ],
    [
      'the one a page names as the original',
      declared,
      '<h1>Lamps</h1><p>This story was originally published on 26 Sep 2019 at noon</p>',
      '2019-09-26',
    ],
  ])('is %s', (_name, head, body, expected) => {
    expect(day({ head, body })).toBe(expected);
  });

  it('may stand in the address with the name of the month', () => {
    expect(day({ url: 'https://post.example/blog/2023/october/03/lamps' })).toBe('2023-10-03');
  });

  it('of a change is read from the byline where nothing declares it', () => {
    const result = extractPage(
      page({ head: declared, body: '<h1>Lamps</h1><p>Updated August 25, 2025</p>' }),
    );
    expect(result.modifiedAt?.toISOString().slice(0, 10)).toBe('2025-08-25');
  });
});

describe('the text', () => {
  it('leaves out comments, captions and second copies', () => {
    const body = `<h1>Lamps of the harbour</h1>${prose('the quay')}<figure><img src="a.jpg"><figcaption>The quay at night, seen from the lighthouse. Photo: Ada Lund</figcaption></figure>${prose('the quay')}`;
    const top = '';
    const comments = `<div id="comments"><div class="comment">${prose('a comment')}</div><div class="comment">${prose('another comment')}</div></div>`;
    const parsed = page({ head: '<title>Lamps of the harbour</title>', top, body });
    const html = parsed.source.raw.replace('</main>', `</main>${comments}`);
    const { text } = extractPage(parsePage(html, { url: 'https://post.example/a' }));
    expect(text.match(/the quay for weeks/g)).toHaveLength(1);
    expect(text).toContain('the ferry');
    expect(text).not.toContain('comment');
    expect(text).not.toContain('lighthouse');
  });

  const withAfter = (after: string) => {
    const parsed = page({
      head: '<title>Lamps of the harbour</title>',
      body: `<h1>Lamps of the harbour</h1>${prose('the quay')}`,
    });
    const html = parsed.source.raw.replace('</main>', `</main>${after}`);
    return extractPage(parsePage(html, { url: 'https://post.example/a' })).text;
  };

  it('leaves out comments that are many times as long as the article', () => {
    const one = (i: number) => `<li class="comment">${prose(`remark ${i}`).repeat(2)}</li>`;
    const text = withAfter(`<ol id="comments">${Array.from({ length: 14 }, (_, i) => one(i)).join('')}</ol>`);
    expect(text).toContain('the ferry');
    expect(text).not.toContain('remark');
  });

  it.each([
    '<div id="onetrust-consent-sdk">',
    '<div class="cky-consent-container">',
    '<div id="iubenda-cs-banner">',
    '<div class="osano-cm-window">',
    '<div class="fc-consent-root">',
    '<div role="dialog" aria-modal="true">',
    '<dialog open>',
  ])('leaves out what asks for consent, however much it says: %s', (start) => {
    const asked =
      '<p>When you visit our site, we store data in your browser. It might be about you, your choices or your device and is mostly used to make the site work.</p>';
    const end = start.startsWith('<dialog') ? '</dialog>' : '</div>';
    const text = withAfter(`${start}<div class="text">${asked.repeat(3)}${prose('partners')}</div>${end}`);
    expect(text).toContain('the ferry');
    expect(text).not.toMatch(/store data|partners/);
  });
});

describe('misleading marks', () => {
  const lines = Array.from({ length: 8 }, (_, n) => prose(`number ${n}`)).join('');
  const tell = (body: string, title = '') =>
    explainPage(
      parsePage(`<html><head><title>${title}</title></head><body>${body}</body></html>`, {
        url: 'https://post.example/a',
      }),
    );

  it('a heading below the text, to share or to print it, does not head what follows', () => {
    const teaser = (n: number) =>
      `<li><a href="/${n}">Headline ${n} of other lamps</a><p>The keeper of number ${n} tells of the storm that took the roof off the boathouse.</p></li>`;
    const told = tell(
      `<div><div><h2>EXCLUSIVE: Who brings the ferries in</h2><div>${lines}</div>
        <div class="share"><h3>Share</h3><h1>Lamps of the harbour</h1></div></div>
        <ul>${[1, 2, 3, 4, 5, 6].map(teaser).join('')}</ul></div>`,
      'Lamps of the harbour',
    );
    expect(told.extraction.text).toContain('number 7');
    expect(told.extraction.text).not.toContain('keeper');
    expect(told.blocks.flatMap(({ why }) => why)).not.toContain('before the headline');
  });

  it('a story ends where the next begins, at an h1 that looks like its own', () => {
    const next = (heading: string) =>
      tell(
        `<div><h1 class="head big">Lamps of the harbour</h1>${lines}</div>
          <div>${heading}<p>By Jon Berg</p>${lines.replaceAll('number', 'ferry')}</div>`,
        'Lamps of the harbour',
      );
    const { extraction, blocks } = next('<h1 class="head">A ferry for the small island</h1>');
    expect(extraction.text).toContain('number 7');
    expect(extraction.text).not.toContain('ferry');
    expect(blocks.at(-1)?.why).toEqual(['of the next story']);
    const beside = tell(
      `<div><h1 class="head">Lamps of the harbour</h1>${lines}<h1 class="head">What the ferry has to do with it</h1>${lines.replaceAll('number', 'ferry')}</div>`,
      'Lamps of the harbour',
    );
    expect(beside.extraction.text).toContain('ferry 7');
    for (const other of [
      '<h1>What the ferry has to do with it</h1>',
      '<h1 class="head"><a href="/ferry">A ferry for the small island</a></h1>',
      '<h2 class="head">A ferry for the small island</h2>',
    ])
      expect(next(other).extraction.text).toContain('ferry 7');
  });

  it('what stands in an aside beside the article is not of it, however long', () => {
    const aside = `<aside>${lines
      .replaceAll('number', 'ferry')
      .repeat(5)
      .replace(/for weeks/g, (_, at) => `for ${at} weeks`)}</aside>`;
    const article = `<article><h1>Lamps of the harbour</h1>${lines}</article>`;
    const { extraction } = tell(`<main>${article}${aside}</main>`, 'Lamps of the harbour');
    expect(extraction.text).toContain('number 7');
    expect(extraction.text).not.toContain('ferry');
  });

  it('parts of a template that are for other pages are not read', () => {
    const other = `<div class="guide w-condition-invisible"><h1>A guide to ferries</h1><time>17 May 2001</time>${lines.replaceAll('number', 'ferry').repeat(4)}</div>`;
    const { extraction } = tell(
      `<h1>Lamps of the harbour</h1><div>${lines}</div>${other}`,
      'Lamps of the harbour',
    );
    expect(extraction.text).toContain('number 7');
    expect(extraction.text).not.toContain('ferry');
    expect(extraction.publishedAt).toBeNull();
  });

  it('the other articles a plugin shows are left out, however much their leads read like this one', () => {
    const others = (name: string) =>
      `<div class="${name}"><h3>Related</h3>${lines.replaceAll('number', 'ferry')}</div>`;
    for (const name of ['jp-relatedposts', 'yarpp yarpp-related', 'crp_related']) {
      const { extraction, blocks } = tell(
        `<article><h1>Lamps of the harbour</h1>${lines}${others(name)}</article>`,
      );
      expect(extraction.text).toContain('number 7');
      expect(extraction.text, name).not.toContain('ferry');
      expect(blocks.find(({ text }) => text.includes('ferry'))?.why).toContain('among other articles');
    }
    // Where nothing else is there, the place is misnamed.
    expect(tell(`<article>${others('jp-relatedposts')}</article>`).extraction.text).toContain('ferry');
  });

  it('an element that is named after comments and holds the text is no place for comments', () => {
    const { extraction, blocks } = tell(
      `<main><h1>Lamps of the harbour</h1><div class="commentOnSelection">${lines}</div>
        <div class="comments"><p>Thank you for this, said somebody who had been there in the winter of the storm.</p></div></main>`,
    );
    expect(extraction.confidence).toBeGreaterThan(0.9);
    expect(extraction.text).not.toContain('Thank you');
    expect(blocks.find(({ text }) => text.startsWith('Thank you'))?.why).toContain('among comments');
  });
});

describe('explainPage', () => {
  const source = page({
    head: '<title>Lamps of the harbour | Post</title><script type="application/ld+json">{"@type":"Article","headline":"Lamps of the harbour","datePublished":"2025-06-24","author":{"name":"Ada Lund"}}</script>',
    top: '<nav><a href="/a">World</a> <a href="/b">Sport</a></nav>',
    body: '<h1>Lamps of the harbour</h1><p class="by">By Ada Lund</p>',
  });

  it('says the same as extractPage and names winners and losers', () => {
    const told = explainPage(source);
    expect(told.extraction).toEqual(extractPage(source));
    expect(told.candidates.title.map(({ from }) => from)).toEqual(['h1', 'json-ld headline', 'title']);
    expect(told.candidates.authors[0]).toEqual({ value: 'Ada Lund', from: 'json-ld author' });
    expect(told.candidates.publishedAt[0]?.value).toBe('2025-06-24T00:00:00.000Z');
  });

  it('gives every dropped block a reason and every kept one none', () => {
    const { blocks, extraction } = explainPage(source);
    expect(blocks.filter(({ kept }) => kept).map(({ text }) => text)).toEqual(extraction.text.split('\n\n'));
    for (const { kept, why } of blocks) expect(why.length > 0).toBe(!kept);
    expect(blocks.find(({ text }) => text === 'By Ada Lund')?.why).toEqual(['only names the author']);
  });

  it('puts the source’s selectors first and tells which matched', () => {
    const told = explainPage(source, { selectors: { title: 'h1', author: '.nobody' } });
    expect(told.selectors).toEqual({ title: 'matched', author: 'no_match' });
    expect(told.candidates.title[0]).toEqual({ value: 'Lamps of the harbour', from: 'selector' });
    expect(told.candidates.authors[0]?.from).toBe('json-ld author');
  });
});
