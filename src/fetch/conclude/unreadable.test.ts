import { describe, expect, it } from 'vitest';
import { makeLeasedUrl, makeSettings } from '../../../test/setup/page-response.ts';
import type { LeasedUrl } from '../../frontier/index.ts';
import { identifyUrl } from '../../url/index.ts';
import { concludeRow } from './index.ts';
import type { Ended, RowContext } from './row-end.ts';

const url = 'https://paper.example/news/a-story';
const identified = identifyUrl(url);
if (identified.outcome !== 'ok') throw new Error('the address is fine');
const { identity } = identified;

const makeRow = (change: Partial<LeasedUrl>): LeasedUrl =>
  makeLeasedUrl({ hash: identity.hash, url, ...change });

function answerWith(html: string): Ended {
  const body = Buffer.from(html);
  const timings = { startedAt: 0, headersAt: 1, endedAt: 2 };
  return {
    end: 'answered',
    url,
    identity,
    moved: 'no',
    result: {
      outcome: 'response',
      status: 200,
      headers: { 'content-type': 'text/html' },
      body,
      wireBody: body,
      contentEncoding: null,
      wireBytes: body.length,
      truncated: false,
      remoteAddress: null,
      timings,
    },
  };
}

// A selector that compares every paragraph with all before it, twice: minutes on this page of 30 kB.
const context: RowContext = {
  maxTries: 5,
  probing: false,
  rendering: 'possible',
  refresh: { firstSeconds: 86_400, minSeconds: 3600, maxSeconds: 864_000, adaptive: true },
  further: null,
  settings: { ...makeSettings({ settings: { selectors: { body: 'em ~ p ~ p' } } }), keepHtml: 'none' },
};
const slowPage = `<html><body>${'<p>x y</p>'.repeat(3000)}</body></html>`;

describe('a page that takes too long to read', () => {
  it.each([
    [0, 'failed', 'read_timeout'],
    [4, 'dead', 'max_retries'],
  ])('after %i tries ends as %s: %s and loses a try', async (tries, status, errorCode) => {
    const end = await concludeRow(makeRow({ tries }), answerWith(slowPage), context);
    expect(end.items).toEqual([
      expect.objectContaining({ status, errorCode, tries: tries + 1, httpStatus: 200 }),
    ]);
    expect(end.document).toBe(null);
    expect(end.domain).toEqual({ signal: 'neutral' });
  });
});
