import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../e2e/wait.ts';
import type { Outrider } from '../process/outrider.ts';
import { type DnsServer, startDnsServer } from '../web/dns-server.ts';
import { literalLinks } from '../web/faults/links.ts';
import { checkCrawl, checkEnd } from './end.ts';
import { type Attack, attacks } from './hostile-lines.ts';
import { Lab, type LabKind, plain } from './lab.ts';

const delayMs = 50;
const robotsLines = ['robots-mess', 'robots-huge', 'robots-longer', 'robots-five-hops'];
const manyHosts = Array.from({ length: 80 }, (_, i) => `http://10.1.0.${i + 1}/foreign`);
const otherPorts = [22, 25, 5432, 6379].map((port) => `http://127.1.1.1:${port}/`);
const feedOf = (links: readonly string[]): string =>
  `<rss version="2.0"><channel><title>t</title>${links.map((link) => `<item><link>${link}</link></item>`).join('')}</channel></rss>`;
const others = [
  plain('many-hosts', [
    { name: 'fixed', on: ['feed'], options: { type: 'application/rss+xml', text: feedOf(manyHosts) } },
  ]),
  plain('many-urls', [{ name: 'feed-foreign', options: { items: 300 } }]),
  plain('victim', [{ name: 'status', options: { status: 404 } }]),
  // Answers all the while: many hosts that fail with no answer in between are taken for our own outage.
  plain('pulse', [], { backlog: 250 }),
  plain('patient', [{ name: 'robots-crawl-delay' }]),
  plain('crowd', [{ name: 'feed-huge', options: { items: 100_000 } }]),
];
const kindOf = (attack: Attack): LabKind => attack.kind ?? 'article';

let lab: Lab;
let dns: DnsServer;
let fetcher: Outrider;
let before: Usage;

type Usage = { peakMb: number; openFiles: number };

/** Memory at its highest and open files of a process; Linux tells, others do not. */
function usageOf(pid: number): Usage {
  if (process.platform !== 'linux') return { peakMb: 0, openFiles: 0 };
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const peakKb = Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]);
  return { peakMb: peakKb / 1024, openFiles: readdirSync(`/proc/${pid}/fd`).length };
}

const inward = (): string[] =>
  literalLinks.map((link) => link.replace('/literal', `:${lab.web.port}/literal`));

beforeAll(async () => {
  lab = await Lab.open({
    publishers: [...attacks.map(({ name, faults }) => plain(name, faults)), ...others],
    env: {
      OUTRIDER_FETCH_TIMEOUT_MS: '12000',
      OUTRIDER_FETCH_HEADERS_TIMEOUT_MS: '8000',
      OUTRIDER_FETCH_DEFAULT_DELAY_MS: String(delayMs),
      OUTRIDER_UP_GRACE_SECONDS: '5',
    },
  });
  // Every name of this web is in the hosts file: whatever else is asked for, an attack has asked for.
  dns = await startDnsServer(() => ({ code: 'NXDOMAIN' }));
  const preload = `import dns from 'node:dns'; dns.setServers(['${dns.address}']);`;
  const url = `data:text/javascript;base64,${Buffer.from(preload).toString('base64')}`;
  fetcher = lab.start({ NODE_OPTIONS: `--import=${url}` });
  await lab.makeBombs();
  await lab.follow('late', 'article');
  await lab.idle();
  before = usageOf(fetcher.pid);
  for (let nth = 0; nth < 250; nth += 1) await lab.ask(lab.article('pulse', nth));
  for (const attack of attacks) await lab.follow(attack.name, kindOf(attack));
  for (const name of robotsLines) await lab.ask(`http://${name}.test/private/drafts`);
  for (const name of ['many-hosts', 'many-urls']) await lab.follow(name, 'feed');
  for (const link of [...inward(), ...otherPorts]) await lab.ask(link);
  await lab.idle(150_000);
}, 240_000);
afterAll(async () => {
  await lab?.close();
  await dns?.close();
});

describe('each attack has a name and an end', () => {
  test.each(attacks)('$name', async (attack) => {
    const row = await lab.row(lab.address(attack.name, kindOf(attack)), kindOf(attack));
    expect(row, `${row?.code}: ${row?.text}`).toMatchObject(attack.row);
    if (attack.requests !== undefined)
      expect(lab.requests(attack.name).map(({ path }) => path.slice(0, 80)).length).toBeLessThanOrEqual(
        attack.requests,
      );
    // Its failure, if it was one, is in the log under its own name.
    const { code } = attack.row;
    if (attack.row.status === 'failed' && code != null && !['challenge', 'rate_limited'].includes(code)) {
      const outcomes = (await lab.logged(attack.name)).map(({ outcome }) => outcome);
      expect(outcomes.some((one) => one === code || one === 'not_modified')).toBe(true);
    }
  });

  test('rules between rubbish are rules', async () => {
    for (const name of robotsLines)
      expect(await lab.row(`http://${name}.test/private/drafts`)).toMatchObject({
        status: 'dead',
        code: 'robots_blocked',
      });
  });
});

describe('what must not be reached is not', () => {
  test('addresses of our own machine and network, in every notation', async () => {
    const wrong = [];
    for (const link of [...inward(), ...literalLinks]) {
      const row = await lab.row(link);
      if (row !== undefined && (row.status !== 'dead' || !row.code?.startsWith('refused_')))
        wrong.push([link, row.status, row.code]);
    }
    expect(wrong).toEqual([]);
    const rows = await Promise.all(inward().map((link) => lab.row(link)));
    expect(rows.filter((row) => row !== undefined).length).toBeGreaterThan(20);
    // The web answers on every address of this machine: had anybody come, it would know.
    expect(lab.web.log.read().filter(({ path }) => path.includes('literal'))).toEqual([]);
    expect(await lab.row('http://169.254.169.254/latest/meta-data/')).toMatchObject({
      status: 'dead',
      code: 'refused_address',
    });
  });

  test('ports of other services, even where the address may be had', async () => {
    for (const link of otherPorts)
      expect(await lab.row(link)).toMatchObject({ status: 'dead', code: 'refused_port' });
  });

  test('other schemes, files, and names that only an attack knows', async () => {
    const odd = await lab.database.pool.query<{ url: string }>(
      `SELECT url FROM url_frontier WHERE url !~ '^https?://' OR length(url) > 2048 OR url LIKE '%passwd%' OR url LIKE '%root:%'`,
    );
    expect(odd.rows).toEqual([]);
    const texts = await lab.database.pool.query(
      `SELECT FROM documents WHERE text LIKE '%root:%' OR title LIKE '%boomboom%'`,
    );
    expect(texts.rowCount).toBe(0);
    expect(dns.asked).toEqual([]);
  });
});

describe('nobody is used against others', () => {
  test('a feed names at most fifty new hosts a day', async () => {
    const rows = await Promise.all(manyHosts.map((link) => lab.row(link)));
    expect(rows.filter((row) => row !== undefined)).toHaveLength(50);
  });

  test('a feed names at most a hundred addresses of one host', async () => {
    const { dead } = await lab.statuses('victim');
    expect(dead).toBe(100);
    expect(lab.requests('victim')).toHaveLength(101);
  });

  test('a sitemap lists nobody but its own site', () => {
    expect(lab.requests('after-foreign-sitemap').filter(({ path }) => path.includes('taken'))).toEqual([]);
  });

  test('a monster of a validator is not kept', async () => {
    await lab.ask(lab.article('monster-validators'));
    await lab.idle();
    expect(lab.requests('monster-validators').map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await lab.row(lab.article('monster-validators'))).toMatchObject({ etag: null, version: 1 });
  });
});

describe('the fetcher', () => {
  test('lives, within bounds, and lets go of what it held', async () => {
    expect(fetcher.isRunning).toBe(true);
    const after = usageOf(fetcher.pid);
    console.log(`memory at most ${before.peakMb.toFixed(0)} MB before, ${after.peakMb.toFixed(0)} MB after`);
    expect(after.peakMb).toBeLessThan(600);
    await waitUntil(
      'its sockets are closed',
      () => {
        const { openFiles } = usageOf(fetcher.pid);
        // Connections to the database come and go; those to a hundred hosts must be gone.
        return openFiles <= before.openFiles + 12 || `${openFiles} open, ${before.openFiles} before`;
      },
      60_000,
    );
  });

  test('leaves a log and sums that agree, and hurried nobody', async () => {
    await checkCrawl(lab, delayMs);
  });

  test('reads a crowded feed up to a limit', async () => {
    const rows = async (): Promise<number> =>
      Object.values(await lab.statuses('crowd')).reduce((sum, one) => sum + one, 0);
    await lab.follow('crowd', 'feed');
    await waitUntil(
      'the feed is read',
      async () =>
        (await lab.row(lab.address('crowd', 'feed'), 'feed'))?.http === 200 || `${await rows()} rows`,
      90_000,
    );
    expect(await rows()).toBe(50_000);
    expect(usageOf(fetcher.pid).peakMb).toBeLessThan(600);
  });

  test('waits a minute where an hour is asked for, and ends while it waits', async () => {
    await lab.ask(lab.article('patient'));
    await waitUntil('robots.txt is read', () => lab.requests('patient')[0]?.status === 200);
    await checkEnd(lab, fetcher);
    expect(lab.requests('patient').map(({ path }) => path)).toEqual(['/robots.txt']);
    expect(await lab.row(lab.article('patient'))).toMatchObject({ status: 'pending', tries: 0 });
  });
});
