import { describe, expect, it } from 'vitest';
import type { LeasedUrl } from '../frontier/index.ts';
import { parsePage } from '../html/index.ts';
import type { Source, SourceSettings } from '../sources/index.ts';
import { ingestArticle, wantsSecondOpinion } from './article.ts';

const story =
  'The ferry left the harbour an hour late on Friday because the captain waited for a doctor, and nobody on board complained when they heard why.';
const html = `<html><head><title>Late ferry | Post</title></head><body><h1>Late ferry</h1><div class="kicker">The doctor and the ferry</div><div class="story"><p>${story}</p><p>${story.replace('Friday', 'Sunday')}</p><p>${story.replace('Friday', 'Monday')}</p></div></body></html>`;

function ingest(settings: SourceSettings, page = html) {
  const source = { id: 1, ingestionMode: 'feed', settings } as Source;
  const body = Buffer.from(page);
  return ingestArticle(
    {
      row: { sourceId: 1, depth: 0 } as LeasedUrl,
      finalUrl: 'https://post.example/ferry',
      finalHash: Buffer.alloc(32),
      status: 200,
      headers: { 'content-type': 'text/html; charset=utf-8' },
      body,
      wireBody: null,
      contentEncoding: null,
    },
    {
      source,
      channel: null,
      minWords: 50,
      minBodyBytes: 500,
      keepHtml: 'none',
      sitemapMaxAgeMs: 0,
      nowMs: 0,
    },
  );
}

describe('ingestArticle', () => {
  it('uses the selectors of the source and records what each did', () => {
    const got = ingest({ selectors: { title: '.kicker', author: '.nobody', date: 'p[' } });
    expect(got).toMatchObject({
      outcome: 'document',
      document: {
        title: 'The doctor and the ferry',
        meta: { evidence: { 'selector.title': 'matched', 'selector.author': 'no_match' } },
      },
    });
    expect(JSON.stringify(got)).toContain('invalid_selector');
  });

  it('finds its own way without them', () => {
    expect(ingest({})).toMatchObject({ outcome: 'document', document: { title: 'Late ferry' } });
  });

  it('keeps by which clock a date was written, where that is not UTC', () => {
    const dated = (written: string) => {
      const head = `<head><meta property="article:published_time" content="${written}">`;
      const got = ingest({}, html.replace('<head>', head));
      expect(got).toMatchObject({ outcome: 'document', document: { publishedAt: new Date(written) } });
      return got.outcome === 'document' && 'offsets' in got.document.meta
        ? got.document.meta.offsets
        : undefined;
    };
    expect(dated('2024-05-03T22:30:00-05:00')).toEqual({ published: -300, modified: null });
    expect(dated('2024-05-03T22:30:00Z')).toBeUndefined();
  });
});

describe('wantsSecondOpinion', () => {
  const links = '<li><a href="/a">The lamps of the harbour</a></li>'.repeat(12);
  it.each([
    ['a page that is read well', html, 200, false],
    ['a page in which no text is found', `<body><ul>${links}</ul></body>`, 200, true],
    ['a missing page', `<body><ul>${links}</ul></body>`, 404, false],
    ['a page that holds a template alone', `<body><template><p>${story}</p></template></body>`, 200, false],
    ['a challenge', `<title>Just a moment...</title><form id="challenge-form"><ul>${links}</ul>`, 200, false],
  ])('%s', (_name, text, status, wanted) => {
    const body = Buffer.from(text.padEnd(600));
    const url = 'https://post.example/ferry';
    const page = parsePage(body.toString(), { url });
    expect(wantsSecondOpinion(page, { url }, { body, status, headers: {} }, 500)).toBe(wanted);
  });
});
