import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outrider } from '../process/outrider.ts';
import { type DnsServer, startDnsServer } from '../web/dns-server.ts';
import { Lab, plain } from './lab.ts';

// Real questions over UDP: the fetcher's process is told which name server to ask, as an operator would tell it.
const failing = ['missing', 'broken', 'refusing', 'silent', 'bare'];
// A few at a time, with an answer from somebody in between: six hosts that fail in a row are taken for our own outage.
const groups = [failing.slice(0, 3), failing.slice(3), ['closed']];
const publishers = ['healthy', 'rebound', 'mixed', 'inside', 'closed', ...failing].map((name) =>
  plain(name, [], { backlog: 12 }),
);

let lab: Lab;
let dns: DnsServer;
let closedPort: number;
let fetcher: Outrider;

const addressOf = (name: string): string =>
  lab.web.hosts.find(({ names }) => names.includes(`${name}.test`))!.address;

/** An article by its real port: names that DNS knows have no entry in the hosts file that could lend them one. */
const article = (name: string, nth = 0, port = lab.web.port): string =>
  lab.article(name, nth).replace('.test/', `.test:${port}/`);

const failingArticle = (name: string): string =>
  article(name, 0, name === 'closed' ? closedPort : lab.web.port);

let pulses = 0;
/** An answer from a healthy host. */
async function pulse(): Promise<void> {
  await lab.ask(article('healthy', pulses));
  pulses += 1;
  await lab.idle();
}

function startFetcher(): Outrider {
  const preload = `import dns from 'node:dns'; dns.setServers(['${dns.address}']);`;
  const url = `data:text/javascript;base64,${Buffer.from(preload).toString('base64')}`;
  return lab.start({ NODE_OPTIONS: `--import=${url}` });
}

async function findClosedPort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
  );
  await new Promise((resolve) => server.close(resolve));
  return port;
}

beforeAll(async () => {
  lab = await Lab.open({
    publishers,
    unlisted: publishers.map(({ domain }) => domain!),
    env: {
      OUTRIDER_FETCH_TIMEOUT_MS: '2000',
      // Publishers live in 127.1.0.0/16; 127.0.0.1 and 10.0.0.0/8 are the inside that nobody may be led to.
      OUTRIDER_FETCH_ALLOW_NETWORKS: '127.1.0.0/16:*',
    },
  });
  dns = await startDnsServer((host, before) => {
    const name = host.replace(/^www\./, '').replace(/\.test$/, '');
    switch (name) {
      case 'missing':
        return { code: 'NXDOMAIN' };
      case 'broken':
        return { code: 'SERVFAIL' };
      case 'refusing':
        return { code: 'REFUSED' };
      case 'silent':
        return undefined;
      case 'bare':
        return { addresses: [] };
      case 'rebound':
        return { addresses: [before === 0 ? addressOf(name) : '127.0.0.1'] };
      case 'mixed':
        return { addresses: [addressOf(name), '10.0.0.1'] };
      case 'inside':
        return { addresses: ['127.0.0.1'] };
      default:
        return { addresses: [addressOf(name)] };
    }
  });
  closedPort = await findClosedPort();
  for (const name of ['rebound', 'mixed', 'inside']) await lab.ask(article(name));
  fetcher = startFetcher();
  for (const group of groups) {
    for (const name of group) {
      await lab.knowRobots(failingArticle(name));
      await lab.ask(failingArticle(name));
    }
    await lab.idle();
    await pulse();
  }
  // Nothing is known of robots.txt here, and it cannot be asked for.
  await lab.ask('http://www.missing.test/');
  await lab.idle();
  await pulse();
}, 120_000);
afterAll(async () => {
  await lab?.close();
  await dns?.close();
});

describe('names that lead nowhere', () => {
  test.each([
    ['missing', /ENOTFOUND/],
    ['broken', /ESERVFAIL/],
    ['refusing', /EREFUSED/],
    ['silent', /ETIMEOUT/],
    ['bare', /ENODATA/],
  ])('%s', async (name, detail) => {
    expect(await lab.row(article(name))).toMatchObject({
      status: 'failed',
      code: 'dns',
      text: expect.stringMatching(detail),
      tries: 1,
      documents: 0,
    });
    expect(lab.requests(name)).toEqual([]);
  });

  test('a host that is there and does not listen', async () => {
    expect(await lab.row(failingArticle('closed'))).toMatchObject({
      status: 'failed',
      code: 'connect',
      text: expect.stringMatching(/ECONNREFUSED/),
      tries: 1,
    });
  });

  test('where robots.txt cannot be asked for, nothing else is', async () => {
    const row = await lab.row('http://www.missing.test/');
    expect(row?.status).toMatch(/^(pending|failed)$/);
    expect(row?.dueS).toBeGreaterThan(0);
  });

  test('all of them are given up in the end, none before its tries', async () => {
    for (let round = 0; round < 2; round += 1) {
      for (const group of groups) {
        await lab.hurry(group.flatMap((name) => domainsOf(name)));
        await lab.idle();
        await pulse();
      }
    }
    for (const name of [...failing, 'closed'])
      expect(await lab.row(failingArticle(name))).toMatchObject({
        status: 'dead',
        code: 'max_retries',
        tries: 3,
      });
  }, 120_000);
});

/** A port of its own makes a domain of its own. */
const domainsOf = (name: string): string[] =>
  [lab.web.port, closedPort].map((port) => `${name}.test:${port}`);

describe('names that lead inside', () => {
  test('a name whose address is private is refused', async () => {
    for (const name of ['inside', 'mixed'])
      expect(await lab.row(article(name))).toMatchObject({
        status: 'dead',
        code: 'refused_address',
        documents: 0,
      });
    expect(lab.requests('inside')).toEqual([]);
    expect(lab.requests('mixed')).toEqual([]);
  });

  test('a name that changes its mind gets no second chance', async () => {
    expect(await lab.row(article('rebound'))).toMatchObject({ status: 'fetched', documents: 1 });
    const asked = (): number => dns.asked.filter((name) => name === 'rebound.test').length;
    expect(asked()).toBe(1);
    // What was checked is what is connected to, for as long as the answer is kept.
    await lab.ask(article('rebound', 1));
    await lab.idle();
    expect(await lab.row(article('rebound', 1))).toMatchObject({ status: 'fetched', documents: 1 });
    const served = lab.requests('rebound').length;
    expect([asked(), served]).toEqual([1, 3]);
    // Another process asks again, and is told 127.0.0.1, where the same server would answer.
    expect((await fetcher.stop('SIGTERM')).code, fetcher.stderr).toBe(0);
    fetcher = startFetcher();
    await lab.ask(article('rebound', 2));
    await lab.idle();
    expect(await lab.row(article('rebound', 2))).toMatchObject({ status: 'dead', code: 'refused_address' });
    expect(asked()).toBeGreaterThan(1);
    expect(lab.requests('rebound')).toHaveLength(served);
  });

  test('a healthy name is none the worse for it', async () => {
    expect(await lab.row(article('healthy'))).toMatchObject({ status: 'fetched', documents: 1 });
    expect(fetcher.isRunning).toBe(true);
    expect((await fetcher.stop('SIGTERM')).code, fetcher.stderr).toBe(0);
  });
});
