import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { parseFeed } from 'htmlparser2';
import iconv from 'iconv-lite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askWeb } from './client.ts';
import {
  demoPublishers,
  findForbiddenRequests,
  findPolitenessViolations,
  findRepeatedFetches,
  type Publisher,
  productToken,
  startWeb,
  type Web,
} from './index.ts';
import { lexicons } from './lexicon/index.ts';
import { isLoopback } from './server.ts';

const startMs = Date.parse('2026-03-04T12:00:00Z');
const hourMs = 3_600_000;
let web: Web;

beforeAll(async () => {
  web = await startWeb({ seed: 5, publishers: 32, backlog: 30, startMs, speed: 0 });
});
afterAll(() => web.close());

const urlOf = (publisher: Publisher, path: string) => `http://${publisher.host}${path}`;

describe('determinism', () => {
  it('is the same web for the same seed and clock, and another one for another seed', async () => {
    const [again, other] = await Promise.all([
      startWeb({ seed: 5, publishers: 32, backlog: 30, startMs, speed: 0 }),
      startWeb({ seed: 6, publishers: 32, backlog: 30, startMs, speed: 0 }),
    ]);
    try {
      expect(again.groundTruth()).toEqual(web.groundTruth());
      expect(other.groundTruth()[0]?.articles[0]?.text).not.toBe(web.groundTruth()[0]?.articles[0]?.text);
    } finally {
      await Promise.all([again.close(), other.close()]);
    }
  });

  it('keeps an article under its address whatever moment the web starts at', async () => {
    const later = await startWeb({
      seed: 5,
      publishers: 1,
      backlog: 30,
      startMs: startMs + hourMs * 3,
      speed: 0,
    });
    try {
      const before = new Map(
        web.groundTruth(web.publishers[0]?.domain)[0]?.articles.map((one) => [one.url, one.title]),
      );
      const common = later.groundTruth()[0]?.articles.filter((one) => before.has(one.url)) ?? [];
      expect(common.length).toBeGreaterThan(20);
      for (const one of common) expect(one.title).toBe(before.get(one.url));
    } finally {
      await later.close();
    }
  });

  it('gives every publisher a registrable domain and a /24 of its own', () => {
    expect(new Set(web.publishers.map((one) => one.domain)).size).toBe(32);
    for (const one of web.publishers) expect(one.domain).toMatch(/^[a-z0-9-]+\.test$/);
    if (process.platform === 'linux') {
      const nets = new Set(web.publishers.map((one) => one.address.split('.').slice(0, 3).join('.')));
      expect(nets.size).toBe(32);
    }
  });
});

describe('articles', () => {
  it('are between 150 and 900 words, in all seven languages', () => {
    const truth = web.groundTruth();
    expect(new Set(truth.map((one) => one.language)).size).toBe(7);
    for (const { articles, language } of truth) {
      if (language === 'ja') continue;
      for (const { text } of articles) {
        const words = text.split(/\s+/).length;
        expect(words).toBeGreaterThanOrEqual(150);
        expect(words).toBeLessThanOrEqual(900);
      }
    }
  });

  it('serve the text of the ground truth in the character set they declare', async () => {
    const charsets = new Set<string>();
    for (const publisher of web.publishers) {
      const truth = web.groundTruth(publisher.domain)[0]?.articles.at(-1);
      const answer = await askWeb(web, truth?.url ?? '');
      expect(answer.status).toBe(200);
      charsets.add(publisher.charset);
      const html = iconv.decode(answer.body, publisher.charset);
      for (const block of truth?.text.split('\n\n') ?? []) expect(html).toContain(block);
      expect(html).toContain(markupOf(truth?.title ?? ''));
    }
    expect(charsets.size).toBeGreaterThan(2);
  });

  it('are written in words that need no escaping in a text node', () => {
    expect(JSON.stringify(lexicons)).not.toMatch(/[&<>]/);
  });

  it('redirect to the right words when only the number is right, and from the other host', async () => {
    const publisher = web.publishers.find((one) => one.urlStyle === 'dated') as Publisher;
    const article = web.groundTruth(publisher.domain)[0]?.articles.at(-1);
    const token = article?.url.split('-').at(-1);
    const wrong = await askWeb(web, urlOf(publisher, `/2026/old-words-${token}`));
    expect([wrong.status, wrong.headers.location]).toEqual([301, article?.url]);
    const otherHost = publisher.hosts.find((host) => host !== publisher.host);
    const other = await askWeb(web, (article?.url ?? '').replace(publisher.host, otherHost ?? ''));
    expect([other.status, other.headers.location]).toEqual([301, article?.url]);
  });

  it('ignore tracking parameters', async () => {
    const article = web.groundTruth(web.publishers[0]?.domain)[0]?.articles[3];
    expect((await askWeb(web, `${article?.url}?utm_source=x`)).status).toBe(200);
  });

  it('have a picture whose size the page tells truly', async () => {
    const publisher = web.publishers[0] as Publisher;
    const article = web.groundTruth(publisher.domain)[0]?.articles.at(-1);
    const html = (await askWeb(web, article?.url ?? '')).body.toString();
    const match = /<img src="([^"]+)" width="(\d+)" height="(\d+)"/.exec(html);
    const image = await askWeb(web, match?.[1] ?? '');
    expect(image.headers['content-type']).toBe('image/png');
    expect([image.body.readUInt32BE(16), image.body.readUInt32BE(20)]).toEqual([
      Number(match?.[2]),
      Number(match?.[3]),
    ]);
    expect(image.body.readUInt32BE(16)).toBeGreaterThanOrEqual(256);
  });
});

describe('channels', () => {
  it('feeds parse, and list what the ground truth says, newest first', async () => {
    const kinds = new Set<string>();
    for (const publisher of web.publishers) {
      for (const feed of publisher.feeds) {
        kinds.add(feed.kind);
        const answer = await askWeb(web, urlOf(publisher, feed.path));
        const text = iconv.decode(answer.body, feed.kind === 'json' ? 'utf-8' : publisher.charset);
        const titles =
          feed.kind === 'json'
            ? (JSON.parse(text) as { items: { title: string }[] }).items.map((item) => item.title)
            : (parseFeed(text)?.items.map((item) => item.title) ?? []);
        const listed = web
          .groundTruth(publisher.domain)[0]
          ?.articles.filter((article) => article.channels.includes(urlOf(publisher, feed.path)));
        expect(titles).toEqual(listed?.reverse().map((article) => article.title));
      }
    }
    expect([...kinds].sort()).toEqual(['atom', 'json', 'rdf', 'rss']);
  });

  it('sitemaps list what the ground truth says', async () => {
    const kinds = new Set<string>();
    for (const publisher of web.publishers) {
      for (const sitemap of publisher.sitemaps) {
        kinds.add(sitemap.kind);
        const address = urlOf(publisher, sitemap.path);
        const listed = web
          .groundTruth(publisher.domain)[0]
          ?.articles.filter((article) => article.channels.includes(address));
        expect((await readSitemap(address)).sort()).toEqual(listed?.map((article) => article.url).sort());
      }
    }
    expect([...kinds].sort()).toEqual(['gzip', 'index', 'news', 'text', 'urlset']);
  });

  it('lead a click counter to the article', async () => {
    const publisher = web.publishers.find((one) => one.feeds.some((feed) => feed.origLink)) as Publisher;
    const text = (await askWeb(web, urlOf(publisher, publisher.feeds[0]?.path ?? ''))).body.toString();
    const link = /<item>.*?<link>([^<]+)<\/link>.*?<feedburner:origLink>([^<]+)</.exec(text);
    const answer = await askWeb(web, link?.[1] ?? '');
    expect(answer.status).toBe(302);
    expect(answer.headers.location).toContain(link?.[2]);
  });
});

describe('listings', () => {
  it('lead through all pages to every article, forty pages deep', async () => {
    const publisher = web.publishers.find((one) => one.perPage === 10) as Publisher;
    const wanted = web.groundTruth(publisher.domain)[0]?.articles.map((article) => article.url) ?? [];
    const found = new Set<string>();
    let address: string | undefined = urlOf(publisher, '/');
    let pages = 0;
    for (; address !== undefined && pages < 60; pages++) {
      const html = iconv.decode((await askWeb(web, address)).body, publisher.charset);
      for (const match of html.matchAll(/<h2><a href="([^"]+)"/g))
        found.add(urlOf(publisher, plainOf(match[1])));
      const next = /<a rel="next" href="([^"]+)"/.exec(html)?.[1];
      address = next === undefined ? undefined : urlOf(publisher, next);
    }
    expect(pages).toBe(40);
    expect([...found].sort()).toEqual([...wanted].sort());
    const beyond = publisher.pagination === 'path' ? '/page/41' : '/?page=41';
    expect((await askWeb(web, urlOf(publisher, beyond))).status).toBe(404);
  });

  it('keep archives by date', async () => {
    const publisher = web.publishers.find((one) => one.archives) as Publisher;
    const overview = iconv.decode((await askWeb(web, urlOf(publisher, '/archive'))).body, publisher.charset);
    const months = [...overview.matchAll(/<li><a href="(\/\d{4}\/\d\d\/)"/g)];
    expect(months.length).toBeGreaterThan(0);
    const month = await askWeb(web, urlOf(publisher, months[0]?.[1] ?? ''));
    expect(month.body.toString('latin1')).toContain('class="teaser"');
  });
});

describe('HTTP', () => {
  it('answers 304 to its own validators, and 200 once something is new', async () => {
    const own = await startWeb({ seed: 5, publishers: 8, startMs, speed: 0 });
    try {
      let checked = 0;
      for (const publisher of own.publishers) {
        const path = publisher.feeds[0]?.path ?? publisher.sitemaps[0]?.path ?? '/';
        const { headers } = await askWeb(own, urlOf(publisher, path));
        const validators: Record<string, string> = {};
        if (headers.etag !== undefined) validators['if-none-match'] = String(headers.etag);
        if (headers['last-modified'] !== undefined)
          validators['if-modified-since'] = String(headers['last-modified']);
        if (Object.keys(validators).length === 0) continue;
        checked += 1;
        const second = await askWeb(own, urlOf(publisher, path), { headers: validators });
        expect([second.status, second.body.length]).toEqual([304, 0]);
        own.clock.advance(2_000);
        own.publish(publisher.domain, 1);
        expect((await askWeb(own, urlOf(publisher, path), { headers: validators })).status).toBe(200);
      }
      expect(checked).toBeGreaterThan(4);
    } finally {
      await own.close();
    }
  });

  it('compresses for those who accept it', async () => {
    const unpack = { gzip: gunzipSync, br: brotliDecompressSync };
    for (const encoding of ['gzip', 'br'] as const) {
      const publisher = web.publishers.find((one) => one.compression === encoding) as Publisher;
      const plain = await askWeb(web, urlOf(publisher, '/'));
      const packed = await askWeb(web, urlOf(publisher, '/'), { headers: { 'accept-encoding': 'gzip, br' } });
      expect(plain.headers['content-encoding']).toBeUndefined();
      expect(packed.headers['content-encoding']).toBe(encoding);
      expect(unpack[encoding](packed.body)).toEqual(plain.body);
    }
  });

  it('knows only its own hosts, answers HEAD without a body and 404 for the rest', async () => {
    const publisher = web.publishers[0] as Publisher;
    expect((await askWeb(web, 'http://unknown.test/')).status).toBe(421);
    expect((await askWeb(web, urlOf(publisher, '/no/such/page'))).status).toBe(404);
    const head = await askWeb(web, urlOf(publisher, '/'), { method: 'HEAD' });
    expect([head.status, head.body.length]).toEqual([200, 0]);
  });

  it('logs every request with times in order', async () => {
    const since = web.log.nextSeq;
    await askWeb(web, urlOf(web.publishers[0] as Publisher, '/robots.txt'), {
      headers: { 'if-none-match': '"x"' },
    });
    const [record] = web.log.read(since);
    expect(record).toMatchObject({
      path: '/robots.txt',
      status: 200,
      userAgent: 'test',
      conditional: true,
      aborted: false,
    });
    expect(record?.startedAtMs).toBeLessThanOrEqual(record?.headersSentAtMs ?? -1);
    expect(record?.headersSentAtMs).toBeLessThanOrEqual(record?.endedAtMs ?? -1);
  });

  it.each([
    ['127.0.0.1', true],
    ['127.9.8.7', true],
    ['::ffff:127.0.0.1', true],
    ['10.0.0.1', false],
    ['192.168.1.127', false],
    ['::ffff:10.127.0.1', false],
    [undefined, false],
  ])('takes connections of %s: %s', (address, taken) => expect(isLoopback(address)).toBe(taken));

  it('writes a hosts file', async () => {
    const path = join(tmpdir(), `web-hosts-${process.pid}`);
    await web.writeHostsFile(path);
    const lines = (await readFile(path, 'utf8')).trim().split('\n');
    await rm(path);
    const { address, hosts } = web.publishers[0] as Publisher;
    expect(lines).toHaveLength(32);
    expect(lines[0]).toBe(`${address}:${web.port} ${hosts.join(' ')}`);
  });
});

describe('time', () => {
  it('publishes as the clock moves, never dated in the future, and nothing vanishes', async () => {
    const own = await startWeb({ seed: 9, publishers: 12, backlog: 10, startMs, speed: 0 });
    try {
      const before = own.groundTruth().flatMap((one) => one.articles.map((article) => article.url));
      own.clock.advance(72 * hourMs);
      const after = own.groundTruth().flatMap((one) => one.articles);
      expect(after.length).toBeGreaterThan(before.length + 20);
      const urls = new Set(after.map((article) => article.url));
      for (const url of before) expect(urls).toContain(url);
      for (const article of after) expect(article.publishedMs).toBeLessThanOrEqual(own.clock.now());
      expect(after.some((article) => article.changedMs > article.publishedMs)).toBe(true);
      expect(() => own.clock.advance(-1)).toThrow(RangeError);
    } finally {
      await own.close();
    }
  });

  it('tells copies from originals', async () => {
    const own = await startWeb({ seed: 7, publishers: demoPublishers(40, 7), startMs, speed: 0 });
    try {
      const articles = own.groundTruth().flatMap((one) => one.articles);
      const byUrl = new Map(articles.map((article) => [article.url, article]));
      const duplicates = articles.filter((article) => article.duplicateOf !== undefined);
      const syndicated = articles.filter((article) => article.syndicatedFrom !== undefined);
      expect(duplicates.length).toBeGreaterThan(3);
      expect(syndicated.length).toBeGreaterThan(3);
      for (const one of duplicates) expect(one.text).toBe(byUrl.get(one.duplicateOf ?? '')?.text);
      for (const one of syndicated) {
        const original = byUrl.get(one.syndicatedFrom ?? '');
        if (original !== undefined) expect(one.text.startsWith(original.text)).toBe(true);
      }
      const outcomes = new Set(
        articles.map(({ expected }) => ('reason' in expected ? expected.reason : expected.outcome)),
      );
      for (const outcome of [
        'document',
        'duplicate',
        'robots_blocked',
        'needs_render',
        'redirected',
        'forbidden',
        'soft_404',
        'login_wall',
        'challenge',
        'not_found',
      ])
        expect(outcomes).toContain(outcome);
    } finally {
      await own.close();
    }
  });
});

describe('checks on a real log', () => {
  it('find a hasty and disobedient client, and nothing against a good one', async () => {
    const own = await startWeb({ seed: 5, publishers: 3, startMs, speed: 0 });
    try {
      const [good, bad] = own.publishers as [Publisher, Publisher];
      const truth = (publisher: Publisher) => own.groundTruth(publisher.domain)[0]?.articles[0]?.url ?? '';
      await askWeb(own, urlOf(good, '/robots.txt'));
      await askWeb(own, truth(good));
      await Promise.all([askWeb(own, truth(bad)), askWeb(own, urlOf(bad, '/private/drafts'))]);
      await askWeb(own, urlOf(bad, '/robots.txt'));
      own.setRobots(bad.domain, { disallow: ['/'] });
      await askWeb(own, truth(bad));
      const log = own.log.read();
      const delayMs = (domain: string) => (domain === bad.domain ? 60_000 : 0);
      const hasty = findPolitenessViolations(log, { delayMs });
      expect(new Set(hasty.map((one) => one.domain))).toEqual(new Set([bad.domain]));
      expect(hasty).toHaveLength(3);
      const forbidden = findForbiddenRequests(log, { publishers: own.publishers, token: productToken });
      expect(forbidden.map((one) => one.why)).toEqual(['before_robots', 'before_robots', 'disallowed']);
      expect(findRepeatedFetches(log).map((one) => one.url)).toEqual([truth(bad)]);
      expect((await askWeb(own, urlOf(bad, '/robots.txt'))).body.toString()).toContain('Disallow: /\n');
      expect(own.groundTruth(bad.domain)[0]?.articles[0]?.expected).toEqual({ outcome: 'robots_blocked' });
    } finally {
      await own.close();
    }
  });
});

function markupOf(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/"/g, '&quot;');
}

function plainOf(text: string | undefined): string {
  return (text ?? '').replaceAll('&amp;', '&');
}

async function readSitemap(address: string): Promise<string[]> {
  const answer = await askWeb(web, address);
  const xml = (address.endsWith('.gz') ? gunzipSync(answer.body) : answer.body).toString();
  if (address.endsWith('.txt')) return xml.trim().split('\n');
  const locations = [...xml.matchAll(/<loc>([^<]+)<\/loc>/g)].map((match) => plainOf(match[1]));
  if (!xml.includes('<sitemapindex')) return locations;
  return (await Promise.all(locations.map(readSitemap))).flat();
}
