import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, askWeb } from '../client.ts';
import { type FaultSpec, faultTable, type Web } from '../index.ts';
import { startFaultyWeb } from './fixture.ts';

let web: Web;
let article: string;

beforeAll(async () => {
  ({ web, article } = await startFaultyWeb());
});
afterEach(() => web.clearFault());
afterAll(() => web.close());

const at = (path: string) => `http://faulty.test${path}`;
const set = (spec: FaultSpec) => web.setFault('faulty.test', spec);
const ask = (url = article) => askWeb(web, url);

/** Faults that answer one request with something that can be seen at once. */
const answers: [string, FaultSpec, () => string, (answer: Answer) => void][] = [
  ['status', { name: 'status', options: { status: 410 } }, () => article, (a) => expect(a.status).toBe(410)],
  [
    'too-many, seconds',
    { name: 'too-many', options: { retryAfter: '7' } },
    () => at('/feed'),
    (a) => expect([a.status, a.headers['retry-after']]).toEqual([429, '7']),
  ],
  [
    'too-many, date',
    { name: 'too-many', options: { retryAfter: 'date+60' } },
    () => article,
    (a) => expect(Date.parse(String(a.headers['retry-after']))).toBeGreaterThan(Date.now()),
  ],
  ['forbidden', { name: 'forbidden' }, () => article, (a) => expect(a.status).toBe(403)],
  ['unasked-304', { name: 'unasked-304' }, () => article, (a) => expect(a.status).toBe(304)],
  [
    'monster-validators',
    { name: 'monster-validators' },
    () => article,
    (a) => expect(String(a.headers.etag).length).toBeGreaterThan(8_000),
  ],
  [
    'redirect-away',
    { name: 'redirect-away' },
    () => article,
    (a) => expect([a.status, a.headers.location]).toEqual([301, 'http://neighbour.test/']),
  ],
  [
    'meta-refresh',
    { name: 'meta-refresh' },
    () => article,
    (a) => expect([a.status, text(a)]).toEqual([200, expect.stringContaining('http-equiv="refresh"')]),
  ],
  [
    'redirect-private',
    { name: 'redirect-private' },
    () => article,
    (a) => expect(a.headers.location).toMatch(/^http:\/\/169\.254\./),
  ],
  [
    'redirect-bare',
    { name: 'redirect-bare' },
    () => article,
    (a) => expect([a.status, a.headers.location]).toEqual([302, undefined]),
  ],
  [
    'soft-404',
    { name: 'soft-404' },
    () => article,
    (a) => expect([a.status, text(a)]).toEqual([200, expect.stringContaining('not found')]),
  ],
  ['login-wall', { name: 'login-wall' }, () => article, (a) => expect(text(a)).toContain('type="password"')],
  [
    'challenge',
    { name: 'challenge' },
    () => article,
    (a) => expect([a.status, text(a)]).toEqual([200, expect.stringContaining('Checking your browser')]),
  ],
  [
    'access-denied',
    { name: 'access-denied' },
    () => article,
    (a) => expect(text(a)).toContain('Access denied'),
  ],
  ['too-short', { name: 'too-short' }, () => article, (a) => expect(text(a)).not.toContain('<p>The ')],
  ['empty', { name: 'empty' }, () => article, (a) => expect([a.status, a.body.length]).toEqual([200, 0])],
  [
    'empty 204',
    { name: 'empty', options: { status: 204 } },
    () => article,
    (a) => expect(a.status).toBe(204),
  ],
  ['no-type', { name: 'no-type' }, () => article, (a) => expect(a.headers['content-type']).toBeUndefined()],
  [
    'wrong-type',
    { name: 'wrong-type' },
    () => article,
    (a) => expect(a.headers['content-type']).toBe('application/pdf'),
  ],
  [
    'charset-unknown',
    { name: 'charset-unknown' },
    () => article,
    (a) => expect(a.headers['content-type']).toBe('text/html; charset=x-martian'),
  ],
  ['nul-bytes', { name: 'nul-bytes' }, () => article, (a) => expect(a.body.includes(0)).toBe(true)],
  ['bad-gzip', { name: 'bad-gzip' }, () => article, (a) => expect(() => gunzipSync(a.body)).toThrow()],
  [
    'deep-html',
    { name: 'deep-html' },
    () => article,
    (a) => expect(text(a).split('<div>').length).toBeGreaterThan(100_000),
  ],
  [
    'robots-deny-all',
    { name: 'robots-deny-all' },
    () => at('/robots.txt'),
    (a) => expect(text(a)).toContain('Disallow: /\n'),
  ],
  [
    'robots-html',
    { name: 'robots-html' },
    () => at('/robots.txt'),
    (a) => expect(a.headers['content-type']).toBe('text/html'),
  ],
  ['robots-binary', { name: 'robots-binary' }, () => at('/robots.txt'), (a) => expect(a.body[0]).toBe(0x9c)],
  [
    'robots-huge',
    { name: 'robots-huge' },
    () => at('/robots.txt'),
    (a) => expect(a.body.length).toBeGreaterThan(1_500_000),
  ],
  [
    'robots-crawl-delay',
    { name: 'robots-crawl-delay' },
    () => at('/robots.txt'),
    (a) => expect(text(a)).toContain('Crawl-delay: 3600'),
  ],
  [
    'robots status',
    { name: 'status', on: ['robots'], options: { status: 503 } },
    () => at('/robots.txt'),
    (a) => expect(a.status).toBe(503),
  ],
  [
    'feed-html',
    { name: 'feed-html' },
    () => at('/feed'),
    (a) => expect([a.status, a.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']),
  ],
  [
    'proto-keys',
    { name: 'proto-keys' },
    () => at('/feed'),
    (a) => expect(Object.keys(JSON.parse(text(a)))).toContain('__proto__'),
  ],
  [
    'robots-mess',
    { name: 'robots-mess' },
    () => at('/robots.txt'),
    (a) => expect(text(a)).toMatch(/^\ufeffsite.*\rUSER-AGENT: \*\r disallow : \/search\r/s),
  ],
  ['feed-empty', { name: 'feed-empty' }, () => at('/feed'), (a) => expect(text(a)).not.toContain('<item>')],
  ['feed-cut', { name: 'feed-cut' }, () => at('/feed'), (a) => expect(text(a)).not.toContain('</rss>')],
  [
    'feed-foreign',
    { name: 'feed-foreign' },
    () => at('/feed'),
    (a) => expect(text(a)).toContain('<link>http://neighbour.test/'),
  ],
  [
    'feed-schemes',
    { name: 'feed-schemes' },
    () => at('/feed'),
    (a) => expect(text(a)).toContain('javascript:'),
  ],
  [
    'feed-huge',
    { name: 'feed-huge', options: { items: 3_000 } },
    () => at('/feed'),
    (a) => expect(text(a).split('<item>').length).toBe(3_001),
  ],
  [
    'feed-literals',
    { name: 'feed-literals' },
    () => at('/feed'),
    (a) => expect(text(a)).toContain('http://0x7f.1/literal'),
  ],
  [
    'odd-links',
    { name: 'odd-links' },
    () => at('/'),
    (a) => expect(text(a)).toContain('href="http://[::ffff:7f00:1]/literal"'),
  ],
  [
    'fixed',
    { name: 'fixed', options: { status: 207, type: '', text: 'as said' } },
    () => article,
    (a) => expect([a.status, a.headers['content-type'], text(a)]).toEqual([207, undefined, 'as said']),
  ],
  [
    'proto-ld',
    { name: 'proto-ld' },
    () => article,
    (a) => expect(text(a)).toContain('{"@type":"NewsArticle","__proto__"'),
  ],
  ['xml-bomb', { name: 'xml-bomb' }, () => at('/feed'), (a) => expect(text(a)).toContain('<!ENTITY e9')],
  ['xxe', { name: 'xxe' }, () => at('/feed'), (a) => expect(text(a)).toContain('SYSTEM "file:')],
  [
    'deep-xml',
    { name: 'deep-xml', options: { depth: 5_000 } },
    () => at('/feed'),
    (a) => expect(text(a).split('<a>').length).toBe(5_001),
  ],
  [
    'sitemap-loop',
    { name: 'sitemap-loop' },
    () => at('/sitemap-back.xml'),
    (a) => expect(text(a)).toContain('<loc>http://faulty.test/sitemap-back.xml</loc>'),
  ],
  [
    'sitemap-foreign',
    { name: 'sitemap-foreign' },
    () => at('/sitemap.xml'),
    (a) => expect(text(a)).toContain('<loc>http://neighbour.test/'),
  ],
  [
    'trap-calendar',
    { name: 'trap-calendar' },
    () => at('/calendar/2031/12'),
    (a) => expect(text(a)).toContain('href="/calendar/2032/01"'),
  ],
  [
    'trap-facet',
    { name: 'trap-facet' },
    () => at('/catalogue?a=1'),
    (a) => expect(text(a)).toContain('/catalogue?a=1&amp;colour=red0'),
  ],
  [
    'trap-path',
    { name: 'trap-path' },
    () => at('/topics/more/more/'),
    (a) => expect(text(a)).toContain('href="/topics/more/more/all/"'),
  ],
  [
    'trap-pages',
    { name: 'trap-pages' },
    () => at('/?page=5000'),
    (a) => expect(text(a)).toContain('?page=5001'),
  ],
];

describe('answers', () => {
  it.each(answers)('%s', async (_name, spec, url, check) => {
    set(spec);
    check(await ask(url()));
  });

  it('js-only hides the article from those who run no scripts', async () => {
    const healthy = text(await ask());
    set({ name: 'js-only' });
    const page = text(await ask());
    const paragraph = /<p>([^<]{60,})<\/p>/.exec(healthy)?.[1] ?? 'none';
    expect(page).not.toContain(paragraph);
    expect(Buffer.from(/atob\("([^"]+)"\)/.exec(page)?.[1] ?? '', 'base64').toString()).toBe(healthy);
  });

  it('charset-lie sends other bytes than it declares', async () => {
    web.setFault('neighbour.test', {
      name: 'charset-lie',
      options: { declared: 'utf-8', actual: 'utf-16le' },
    });
    const answer = await askWeb(web, 'http://neighbour.test/');
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.body.toString('utf16le')).toContain('<!DOCTYPE html>');
  });

  it('trap-session gives new numbers at every visit', async () => {
    set({ name: 'trap-session' });
    expect(text(await ask(at('/browse?sid=1')))).not.toBe(text(await ask(at('/browse?sid=1'))));
    expect(text(await ask(at('/')))).toContain('/browse?sid=start');
  });
});

describe('redirects', () => {
  const follow = async (url: string, limit = 20) => {
    const seen = [url];
    for (let left = limit; left > 0; left--) {
      const answer = await ask(seen.at(-1));
      if (answer.headers.location === undefined) return { seen, answer };
      seen.push(String(answer.headers.location));
    }
    return { seen, answer: undefined };
  };

  it('redirect-chain ends at the article after its hops', async () => {
    set({ name: 'redirect-chain', options: { hops: 4 } });
    const { seen, answer } = await follow(article);
    expect([seen.length, answer?.status]).toEqual([5, 200]);
    expect(web.groundTruth('faulty.test')[0]?.articles.at(-1)?.expected).toEqual({
      outcome: 'redirected',
      to: seen.at(-1),
    });
  });

  it('cookie-check leads to itself until its cookie comes back, or for ever', async () => {
    const own = await askWeb(web, article, { headers: { cookie: 'a=b; reader=yes' } });
    expect(own.status).toBe(200);
    set({ name: 'cookie-check' });
    expect(new Set((await follow(article)).seen).size).toBe(1);
    expect((await askWeb(web, article, { headers: { cookie: 'a=b; reader=yes' } })).status).toBe(200);
    web.clearFault();
    set({ name: 'cookie-check', options: { forever: true } });
    expect((await askWeb(web, article, { headers: { cookie: 'reader=yes' } })).status).toBe(302);
  });

  it('redirect-loop comes back, redirect-endless never does', async () => {
    set({ name: 'redirect-loop' });
    expect(new Set((await follow(article)).seen).size).toBe(2);
    web.clearFault();
    set({ name: 'redirect-endless' });
    expect(new Set((await follow(article)).seen).size).toBe(21);
  });

  it('nonce makes every answer another one', async () => {
    set({ name: 'nonce' });
    const [one, other] = [text(await ask()), text(await ask())];
    expect(one).not.toBe(other);
    expect(one.replace(/nonce \d+/, '')).toBe(other.replace(/nonce \d+/, ''));
  });

  it('parameter-selects has an edition for every value of its parameter', async () => {
    set({ name: 'parameter-selects' });
    const [plain, one, other] = [article, `${article}?ref=1`, `${article}?ref=2`].map((url) => ask(url));
    expect(text(await one!)).toContain('<p>In edition 1 one reads: ');
    expect(text(await one!).replaceAll('edition 1', 'edition 2')).toBe(text(await other!));
    expect(text(await plain!)).not.toContain('edition');
  });

  it('moved serves the feed at its new address', async () => {
    const healthy = text(await ask(at('/feed')));
    set({ name: 'moved', on: ['feed', 'other'] });
    const { seen, answer } = await follow(at('/feed'));
    expect([seen.at(-1), answer && text(answer)]).toEqual([at('/moved/feed'), healthy]);
  });

  it('robots-redirect gives the rules after its hops', async () => {
    set({ name: 'robots-redirect', options: { hops: 5 } });
    const { seen, answer } = await follow(at('/robots.txt'));
    expect([seen.length, answer?.status]).toEqual([6, 200]);
    expect(answer && text(answer)).toContain('User-agent: *');
  });
});

it('every fault of the table is tested here, in wire.test.ts or in tls.test.ts', async () => {
  const files = ['./faults.test.ts', './wire.test.ts', './tls.test.ts'].map(
    (name) => new URL(name, import.meta.url),
  );
  const sources = (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('');
  for (const name of faultTable.keys()) expect(sources).toContain(`'${name}'`);
});

function text(answer: Answer): string {
  return answer.body.toString();
}
