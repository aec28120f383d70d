import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { extractPage } from '../../../../src/extract/index.ts';
import { discoverLinks, parsePage } from '../../../../src/html/index.ts';
import { decodeBytes } from '../../../../src/text/index.ts';
import { askWeb } from '../../client.ts';
import { type ArticleTruth, startWeb, type Web } from '../../index.ts';

const options = {
  seed: 7,
  publishers: 20,
  backlog: 60,
  startMs: Date.parse('2026-03-04T12:00:00Z'),
  speed: 0,
};
const pageKb = 80;
let web: Web;
let light: Web;

beforeAll(async () => {
  web = await startWeb({ ...options, pageKb });
  light = await startWeb(options);
});
afterAll(() => Promise.all([web.close(), light.close()]));

const newest = (one: Web): ArticleTruth[] =>
  one.publishers.map(({ domain }) => one.groundTruth(domain)[0]?.articles.at(-1) as ArticleTruth);

async function read(one: Web, url: string): Promise<string> {
  const { body, headers } = await askWeb(one, url);
  return decodeBytes(body, { contentType: String(headers['content-type']), kind: 'html' }).text;
}

/** Words, or signs where words are not parted. */
const wordsOf = (text: string, language: string): string[] =>
  language === 'ja' ? [...text.replace(/\s/g, '')] : text.split(/\s+/);

function shareFound(truth: ArticleTruth, text: string): number {
  const left = new Map<string, number>();
  for (const word of wordsOf(text, truth.language)) left.set(word, (left.get(word) ?? 0) + 1);
  const wanted = wordsOf(truth.text, truth.language);
  const found = wanted.filter((word) => {
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return count > 0;
  });
  return found.length / wanted.length;
}

describe('pages with the furniture of real ones', () => {
  it('weigh what was asked for, two fifths of it code, and are the same at every start', async () => {
    const again = await startWeb({ ...options, pageKb });
    try {
      let bytes = 0;
      let codeChars = 0;
      let chars = 0;
      for (const { url } of newest(web)) {
        const html = await read(web, url);
        expect(await read(again, url)).toBe(html);
        bytes += (await askWeb(web, url)).body.length;
        chars += html.length;
        for (const [code] of html.matchAll(/<(script|style)\b[\s\S]*?<\/\1>/g)) codeChars += code.length;
      }
      expect(bytes / options.publishers / 1024).toBeGreaterThan(pageKb * 0.9);
      expect(bytes / options.publishers / 1024).toBeLessThan(pageKb * 1.1);
      expect(codeChars / chars).toBeGreaterThan(0.35);
      expect(codeChars / chars).toBeLessThan(0.47);
    } finally {
      await again.close();
    }
  });

  it('tell the same truth as bare pages', () => {
    expect(web.groundTruth()).toEqual(light.groundTruth());
  });

  it('leave the article to be found: nine tenths of its words, at most a third more', async () => {
    for (const truth of newest(web)) {
      const { text, title } = extractPage(parsePage(await read(web, truth.url), { url: truth.url }));
      expect(title, truth.url).toBe(truth.title);
      expect(shareFound(truth, text), truth.url).toBeGreaterThan(0.9);
      expect(text.length / truth.text.length, truth.url).toBeLessThan(4 / 3);
    }
  });

  it('link to what exists', async () => {
    for (const { domain, host } of web.publishers.slice(0, 3)) {
      const page = parsePage(await read(web, `http://${host}/`), { url: `http://${host}/` });
      const links = discoverLinks(page);
      expect(page.anchors.length, domain).toBeGreaterThan(100);
      for (const { url } of links) expect((await askWeb(web, url)).status, url).toBe(200);
    }
  });
});
