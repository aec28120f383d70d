import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { extractPage } from '../../src/extract/index.ts';
import { parsePage } from '../../src/html/index.ts';
import { decodeBytes } from '../../src/text/index.ts';
import { validatePage } from '../../src/validate/index.ts';
import { askWeb } from './client.ts';
import { startWeb, type Web } from './index.ts';
import { type Language, lexicons } from './lexicon/index.ts';

const languages = Object.keys(lexicons) as Language[];
const domainOf = (language: Language) => `${language}.test`;
let web: Web;

beforeAll(async () => {
  web = await startWeb({
    seed: 11,
    publishers: languages.length,
    startMs: Date.parse('2026-03-04T12:00:00Z'),
    speed: 0,
    changes: languages.map((language) => ({
      domain: domainOf(language),
      host: domainOf(language),
      language,
      charset: 'utf-8',
      charsetDeclaration: 'header',
    })),
  });
});
afterEach(() => web.clearFault());
afterAll(() => web.close());

const articlesOf = (language: Language) =>
  (web.groundTruth(domainOf(language))[0]?.articles ?? []).slice(-5).map((article) => article.url);

/** What becomes of a page on its way from the wire to a document. */
async function judge(url: string) {
  const { status, headers, body } = await askWeb(web, url);
  const { text } = decodeBytes(body, { contentType: String(headers['content-type']), kind: 'html' });
  const page = parsePage(text, { url });
  const extraction = extractPage(page);
  const validation = validatePage({ page, extraction, bodyBytes: body.length, status, headers: {} });
  return { validation, extraction };
}

describe.each(languages)('pages of the simulated web in %s', (language) => {
  it.each([
    ['soft-404', 'soft_404'],
    ['login-wall', 'login_wall'],
    ['challenge', 'challenge'],
    ['access-denied', 'access_denied'],
    ['js-only', 'needs_javascript'],
  ])('rejects %s as %s', async (fault, reason) => {
    web.setFault(domainOf(language), { name: fault });
    const urls = articlesOf(language);
    expect(urls.length).toBeGreaterThan(0);
    for (const url of urls)
      expect((await judge(url)).validation).toMatchObject({ outcome: 'rejected', reason });
  });

  it('accepts its articles', async () => {
    for (const url of articlesOf(language)) {
      const { validation, extraction } = await judge(url);
      expect(validation).toEqual({ outcome: 'valid' });
      expect(extraction.wordCount).toBeGreaterThan(50);
    }
  });
});
