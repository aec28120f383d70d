import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outrider } from '../process/outrider.ts';
import type { FaultSpec, PublisherChange } from '../web/index.ts';
import { checkCrawl, checkEnd } from './end.ts';
import { Lab, plain } from './lab.ts';

const delayMs = 100;
const none = { documents: 0, version: null };

/** Publishers that lead elsewhere or need more than one look; each has its own test below. */
const chain = (hops: number, code = 302): FaultSpec[] => [
  { name: 'redirect-chain', options: { hops, status: code } },
];
const hopStatuses = [301, 302, 303, 307, 308];
const ledTo: Record<string, string> = {
  'led-home': 'http://led-home.test/',
  'led-to-section': 'http://led-to-section.test/politics/',
  'led-to-other-home': 'http://landing.test/',
};
const special: PublisherChange[] = [
  ...hopStatuses.map((code) => plain(`hop-${code}`, chain(1, code))),
  plain('five-hops', chain(5)),
  plain('six-hops', chain(6)),
  plain('loop', [{ name: 'redirect-loop' }]),
  plain('cookie-check', [{ name: 'cookie-check' }]),
  plain('cookie-trap', [{ name: 'cookie-check', options: { forever: true } }]),
  plain('endless-hops', [{ name: 'redirect-endless' }]),
  plain('slash', [], { urlStyle: 'slash' }),
  plain('tracked', [{ name: 'fixed', options: { status: 302, location: '?utm_source=x' }, untilRequest: 1 }]),
  plain('upgraded', [{ name: 'https-upgrade' }]),
  plain('away', [{ name: 'redirect-away', options: { to: 'http://landing.test/about' } }]),
  plain('landing'),
  plain('ping', [{ name: 'redirect-away', on: ['listing'], options: { to: 'http://pong.test/' } }]),
  plain('pong', [{ name: 'redirect-away', on: ['listing'], options: { to: 'http://ping.test/' } }]),
  // Publishers send the readers of what is gone to their front page, to a section, or to somebody else's front page.
  ...Object.entries(ledTo).map(([name, to]) =>
    // As many articles as make a list.
    plain(name, [{ name: 'redirect-away', options: { to, status: 301 } }], { backlog: 60 }),
  ),
  plain(
    'led-to-login',
    [{ name: 'redirect-away', options: { to: 'http://led-to-login.test/login', status: 302 } }],
    { robots: { disallow: [], allow: [], crawlDelayS: 0 } },
  ),
  plain('led-to-consent', [
    { name: 'redirect-away', options: { to: 'http://consent.group.test/collect?session=1', status: 302 } },
  ]),
  plain('home-for-now', [
    { name: 'redirect-away', options: { to: 'http://home-for-now.test/', status: 302 } },
  ]),
  plain('home-once', [
    { name: 'redirect-away', options: { to: 'http://home-once.test/', status: 302 }, untilRequest: 1 },
  ]),
  plain('says-moved', [{ name: 'meta-refresh' }]),
  plain('says-moved-above', [{ name: 'meta-refresh', options: { header: true } }]),
  plain('says-moved-away', [{ name: 'meta-refresh', options: { to: 'http://landing.test/about' } }]),
  plain('says-gone', [{ name: 'meta-refresh', options: { to: 'http://landing.test/' } }]),
  plain('into-forbidden', [{ name: 'redirect-away', options: { to: 'http://into-forbidden.test/search' } }]),
  // Five in a row have every habit of the web: both validators, either, a weak one, none.
  ...[0, 1, 2, 3, 4].map((one) => plain(`unchanged-${one}`)),
  ...[0, 1, 2, 3, 4].map((one) => plain(`poll-unchanged-${one}`)),
  plain('unasked', [{ name: 'unasked-304', on: ['article'] }]),
  plain('unasked-once', [{ name: 'unasked-304', on: ['article'], untilRequest: 1 }]),
  plain('tls-untrusted', [{ name: 'tls-untrusted' }]),
  plain('tls-expired', [{ name: 'tls-expired' }]),
  plain('tls-wrong-host', [{ name: 'tls-wrong-host' }]),
  plain('tls-refused', [{ name: 'tls-refused' }]),
  plain('tls-fine'),
  plain('tls-incomplete', [{ name: 'tls-incomplete' }]),
  plain('tls-robots', [{ name: 'tls-untrusted' }]),
];

let lab: Lab;
let fetcher: Outrider;

const secure = (name: string): string => lab.article(name).replace('http:', 'https:');

async function prepareSpecial(): Promise<void> {
  for (const { host } of lab.web.publishers) {
    const name = host.replace(/\.test$/, '');
    if (name === 'landing' || name === 'pong') continue;
    if (name === 'ping') await lab.follow(name, 'listing');
    else if (name.startsWith('poll-unchanged')) await lab.follow(name, 'feed');
    else if (name === 'slash') await lab.ask(lab.article(name).replace(/\/$/, ''));
    else if (['tls-fine', 'tls-incomplete', 'tls-robots'].includes(name)) await lab.ask(secure(name));
    else if (!name.startsWith('tls-')) await lab.ask(lab.article(name));
    else {
      // What fails is the page.
      await lab.knowRobots(secure(name));
      await lab.ask(secure(name));
    }
  }
}

beforeAll(async () => {
  lab = await Lab.open({ publishers: special, env: { OUTRIDER_FETCH_DEFAULT_DELAY_MS: String(delayMs) } });
  await prepareSpecial();
  fetcher = lab.start();
  await lab.idle();
}, 180_000);
afterAll(() => lab?.close());

describe('redirects', () => {
  test.each(hopStatuses)('%i inside the domain is followed in the slot', async (code) => {
    const name = `hop-${code}`;
    const url = lab.article(name);
    expect(await lab.row(url)).toMatchObject({
      status: 'redirected',
      redirectedTo: `${url}?hop=1`,
      documents: 0,
      tries: 0,
    });
    expect(await lab.row(`${url}?hop=1`)).toMatchObject({ status: 'fetched', documents: 1, http: 200 });
    // No second fetch: robots.txt, the address, where it led.
    expect(lab.requests(name).map(({ status: one }) => one)).toEqual([200, code, 200]);
    expect((await lab.logged(name)).map(({ outcome }) => outcome)).toEqual([
      'response',
      'redirect',
      'response',
    ]);
    expect(await lab.domain(name)).toMatchObject({ documents: 1, errors: 0 });
  });

  test('five hops are followed, the sixth is too many', async () => {
    const five = lab.article('five-hops');
    expect(await lab.row(five)).toMatchObject({ status: 'redirected', redirectedTo: `${five}?hop=5` });
    expect(await lab.row(`${five}?hop=5`)).toMatchObject({ status: 'fetched', documents: 1 });
    for (const name of ['six-hops', 'endless-hops']) {
      expect(await lab.row(lab.article(name))).toMatchObject({
        status: 'dead',
        code: 'too_many_redirects',
        ...none,
      });
      expect(lab.requests(name)).toHaveLength(1 + 6);
      expect(await lab.statuses(name)).toEqual({ dead: 1 });
    }
  });

  test('a circle is seen when it closes', async () => {
    expect(await lab.row(lab.article('loop'))).toMatchObject({
      status: 'dead',
      code: 'redirect_loop',
      ...none,
    });
    expect(lab.requests('loop')).toHaveLength(1 + 2);
  });

  test('a cookie goes back to who set it and leads to the same address, and is gone with the row', async () => {
    const url = lab.article('cookie-check');
    expect(await lab.row(url)).toMatchObject({ status: 'fetched', url, redirectedTo: null, documents: 1 });
    expect(lab.requests('cookie-check').map(({ status: one }) => one)).toEqual([200, 302, 200]);
    // One that never has enough of them ends where every chain does.
    expect(await lab.row(lab.article('cookie-trap'))).toMatchObject({
      status: 'dead',
      code: 'too_many_redirects',
      ...none,
    });
    expect(lab.requests('cookie-trap')).toHaveLength(1 + 6);
  });

  test('the same key: a permanent move changes the address, a temporary one does not', async () => {
    const slash = lab.article('slash');
    expect(slash).toMatch(/\/$/);
    expect(await lab.row(slash)).toMatchObject({
      status: 'fetched',
      url: slash,
      redirectedTo: null,
      documents: 1,
    });
    expect(lab.requests('slash').map(({ status: one }) => one)).toEqual([200, 301, 200]);
    const tracked = lab.article('tracked');
    expect(await lab.row(tracked)).toMatchObject({ status: 'fetched', url: tracked, documents: 1 });
    expect(lab.requests('tracked').map(({ path }) => path.includes('utm_'))).toEqual([false, false, true]);
  });

  test('http to https is the same page at a better address', async () => {
    const url = lab.article('upgraded');
    const better = url.replace('http:', 'https:');
    expect(await lab.row(url)).toMatchObject({
      status: 'fetched',
      url: better,
      documents: 1,
      redirectedTo: null,
    });
    expect(await lab.statuses('upgraded')).toEqual({ fetched: 1 });
  });

  test('another domain is submitted to, under its own robots.txt, and nothing else of it is touched', async () => {
    const to = 'http://landing.test/about';
    expect(await lab.row(lab.article('away'))).toMatchObject({
      status: 'redirected',
      redirectedTo: to,
      documents: 0,
    });
    expect(await lab.row(to)).toMatchObject({ hops: 1 });
    expect(lab.requests('landing').map(({ path }) => path)).toEqual(['/robots.txt', '/about']);
    expect(lab.requests('away')).toHaveLength(2);
  });

  test('two domains that point at each other are asked once each', async () => {
    expect(await lab.row('http://ping.test/', 'listing')).toMatchObject({ status: 'redirected' });
    expect(await lab.row('http://pong.test/', 'listing')).toMatchObject({ status: 'redirected' });
    for (const name of ['ping', 'pong'])
      expect(lab.requests(name).map(({ path }) => path)).toEqual(['/robots.txt', '/']);
  });

  test.each(Object.entries(ledTo))(
    '%s: a list in the place of an article is no document',
    async (name, to) => {
      expect(await lab.row(lab.article(name))).toMatchObject({
        status: 'dead',
        code: 'led_to_listing',
        text: expect.stringContaining(to),
        ...none,
      });
      expect(await lab.statuses(name)).toEqual({ dead: 1 });
      expect(await lab.row(to)).toBeUndefined();
    },
  );

  test.each(['led-to-login', 'led-to-consent'])(
    '%s: what stands before a page is the page’s trouble',
    async (name) => {
      expect(await lab.row(lab.article(name))).toMatchObject({
        status: 'failed',
        code: 'login_wall',
        tries: 1,
        ...none,
      });
      expect(await lab.statuses(name)).toEqual({ failed: 1 });
    },
  );

  test('who is sent home for now asks once more', async () => {
    const names = ['home-for-now', 'home-once'];
    for (const name of names)
      expect(await lab.row(lab.article(name))).toMatchObject({
        status: 'failed',
        code: 'led_to_listing',
        tries: 1,
        ...none,
      });
    await lab.hurry(names.map((name) => `${name}.test`));
    await lab.idle();
    expect(await lab.row(lab.article('home-for-now'))).toMatchObject({
      status: 'dead',
      code: 'led_to_listing',
      ...none,
    });
    expect(await lab.row(lab.article('home-once'))).toMatchObject({ status: 'fetched', documents: 1 });
  });

  test('a page that only says where to go on is a redirect in its own words', async () => {
    const url = lab.article('says-moved');
    expect(await lab.row(url)).toMatchObject({
      status: 'redirected',
      redirectedTo: `${url}?hop=1`,
      documents: 0,
    });
    expect(await lab.row(`${url}?hop=1`)).toMatchObject({ status: 'fetched', documents: 1, hops: 1 });
    const above = lab.article('says-moved-above');
    expect(await lab.row(above)).toMatchObject({ status: 'redirected', redirectedTo: `${above}?hop=1` });
    expect(await lab.row(`${above}?hop=1`)).toMatchObject({ status: 'fetched', documents: 1, hops: 1 });
    expect(await lab.row(lab.article('says-moved-away'))).toMatchObject({
      status: 'redirected',
      redirectedTo: 'http://landing.test/about',
    });
    expect(await lab.row(lab.article('says-gone'))).toMatchObject({
      status: 'failed',
      code: 'led_to_listing',
    });
  });

  test('each hop is asked of robots.txt', async () => {
    expect(await lab.row(lab.article('into-forbidden'))).toMatchObject({ documents: 0 });
    expect(lab.requests('into-forbidden').map(({ path }) => path.split('?')[0])).not.toContain('/search');
    expect(await lab.row('http://into-forbidden.test/search')).not.toMatchObject({ status: 'fetched' });
  });
});

describe('not modified', () => {
  const five = [0, 1, 2, 3, 4];

  test('articles that have not changed keep their documents and validators', async () => {
    const before = await Promise.all(five.map((one) => lab.row(lab.article(`unchanged-${one}`))));
    for (const one of five) expect(await lab.ask(lab.article(`unchanged-${one}`))).toBe('refreshed');
    await lab.idle();
    for (const [one, row] of before.entries()) {
      const name = `unchanged-${one}`;
      expect(row).toMatchObject({ status: 'fetched', version: 1 });
      const conditional = row?.etag != null || row?.lastModified != null;
      const { etag, lastModified } = row!;
      const http = conditional ? 304 : 200;
      // Without validators it is the text that says so.
      expect(await lab.row(lab.article(name))).toMatchObject({
        status: 'fetched',
        version: 1,
        tries: 0,
        http,
        etag,
        lastModified,
      });
      expect(lab.requests(name).at(-1)).toMatchObject({ status: http, conditional });
      expect((await lab.logged(name)).at(-1)?.outcome).toBe(conditional ? 'not_modified' : 'response');
      expect(await lab.domain(name)).toMatchObject({ documents: 1, errors: 0 });
    }
    expect(before.filter((row) => row?.etag != null).length).toBe(3);
    expect(before.filter((row) => row?.lastModified != null).length).toBe(3);
  });

  test('a poll that brings nothing is a success', async () => {
    const address = (one: number): string => lab.address(`poll-unchanged-${one}`, 'feed');
    const before = await Promise.all(five.map((one) => lab.row(address(one), 'feed')));
    await lab.hurry(five.map((one) => `poll-unchanged-${one}.test`));
    await lab.idle();
    for (const [one, row] of before.entries()) {
      const conditional = row?.etag != null || row?.lastModified != null;
      const { etag, lastModified } = row!;
      const http = conditional ? 304 : 200;
      expect(await lab.row(address(one), 'feed')).toMatchObject({
        status: 'pending',
        code: null,
        tries: 0,
        http,
        etag,
        lastModified,
      });
      expect(lab.requests(`poll-unchanged-${one}`).at(-1)).toMatchObject({ status: http, conditional });
    }
  });

  test('an answer to a question nobody asked is an error, and asked again', async () => {
    for (const name of ['unasked', 'unasked-once'])
      expect(await lab.row(lab.article(name))).toMatchObject({
        status: 'failed',
        code: 'bad_response',
        tries: 1,
        ...none,
      });
    const hosts = ['unasked.test', 'unasked-once.test'];
    for (let round = 0; round < 2; round += 1) {
      await lab.hurry(hosts);
      await lab.idle();
    }
    expect(await lab.row(lab.article('unasked-once'))).toMatchObject({ status: 'fetched', documents: 1 });
    expect(await lab.row(lab.article('unasked'))).toMatchObject({ status: 'dead', ...none });
    // Once more than the first time, or as often as any failing URL: never for ever.
    expect(lab.requests('unasked').length).toBeLessThanOrEqual(1 + 3);
    for (const { conditional } of lab.requests('unasked')) expect(conditional).toBe(false);
  });
});

describe('TLS', () => {
  test.each([
    ['tls-untrusted', /SELF_SIGNED/],
    ['tls-expired', /EXPIRED/],
    ['tls-wrong-host', /ALTNAME/],
    ['tls-refused', /ECONNRESET|EPROTO|SSL/],
  ])('%s: a named failure that is tried again', async (name, detail) => {
    expect(await lab.row(secure(name))).toMatchObject({
      status: 'failed',
      code: 'tls',
      text: expect.stringMatching(detail),
      tries: 1,
      ...none,
    });
    expect(lab.requests(name)).toEqual([]);
    expect((await lab.logged(name)).map(({ outcome }) => outcome)).toEqual(['tls']);
  });

  test('a robots.txt that cannot be had for its certificate forbids everything for now', async () => {
    const row = await lab.row(secure('tls-robots'));
    expect(row?.status).toMatch(/^(pending|failed)$/);
    expect(row?.dueS).toBeGreaterThan(30);
    expect((await lab.logged('tls-robots')).map(({ kind }) => kind)).toEqual(['robots']);
    // It costs the URL no try, but the domain is on its way to being unreachable.
    expect(row?.tries).toBe(0);
    const slot = await lab.database.pool.query<{ failures: number }>(
      `SELECT network_failures AS failures FROM domain_slots JOIN domains USING (bucket, domain_key)
        WHERE name = 'tls-robots.test'`,
    );
    expect(slot.rows).toEqual([{ failures: 1 }]);
  });

  test('a good certificate is as good as none', async () => {
    expect(await lab.row(secure('tls-fine'))).toMatchObject({ status: 'fetched', documents: 1 });
  });

  test('an intermediate that the site does not send is fetched, and is no request of the crawl', async () => {
    expect(await lab.row(secure('tls-incomplete'))).toMatchObject({ status: 'fetched', documents: 1 });
    expect((await lab.logged('tls-incomplete')).map(({ kind, outcome }) => [kind, outcome])).toEqual(
      (await lab.logged('tls-fine')).map(({ kind, outcome }) => [kind, outcome]),
    );
  });
});

describe('in the end', () => {
  test('sums and logs agree, nobody was hurried, and the fetcher ends in order', async () => {
    await checkCrawl(lab, delayMs);
    await checkEnd(lab, fetcher);
  });
});
