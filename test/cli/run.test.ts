import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../e2e/wait.ts';
import { Outrider, runOutrider } from '../process/outrider.ts';
import { createTestDatabase } from '../setup/database.ts';
import {
  type ArticleTruth,
  findPolitenessViolations,
  type PublisherChange,
  startWeb,
  type Web,
} from '../web/index.ts';

type Line = { url: string; title: string; text: string; word_count: number };

const delayMs = 50;
const changes: PublisherChange[] = [
  {},
  { faults: [{ name: 'status', on: ['article'], share: 0.3, options: { status: 404 } }] },
  { faults: [{ name: 'redirect-chain', share: 0.4, options: { hops: 1, status: 301 } }] },
  { faults: [{ name: 'slow', options: { delayMs: 300 } }] },
];
let home: string;
let web: Web;
let env: Record<string, string>;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-cli-'));
  web = await startWeb({
    seed: 41,
    publishers: 4,
    changes: changes.map((change) => ({ backlog: 10, ratePerDay: 20, ...change })),
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  await web.writeHostsFile(join(home, 'hosts'));
  // TMPDIR shows what a run leaves behind.
  env = { OUTRIDER_FETCH_HOSTS_FILE: join(home, 'hosts'), TMPDIR: home };
});
afterAll(async () => {
  await web?.close();
  rmSync(home, { recursive: true, force: true });
});

const network = (): string[] => ['--allow-network', `127.0.0.0/8:${web.port}`, '--delay-ms', String(delayMs)];
const readLines = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
const wantedOf = (truth: readonly ArticleTruth[]): string[] =>
  truth.filter((one) => one.expected.outcome === 'document').map((one) => one.url);
const leftBehind = (): string[] => readdirSync(home).filter((name) => name.startsWith('outrider-run-'));

describe('a list of addresses', () => {
  let truth: ArticleTruth[];

  beforeAll(() => {
    truth = web
      .groundTruth()
      .slice(0, 3)
      .flatMap((one) => one.articles);
  });

  test('becomes the articles it names, and the summary says what became of the rest', async () => {
    const since = web.log.nextSeq;
    const list = [
      '# addresses of a test',
      ...truth.map((one) => one.url),
      '',
      truth[0]!.url,
      'http://nobody-is-here.invalid/article-1',
      'ftp://example.com/file',
      'http://169.254.169.254/latest/meta-data/',
    ];
    writeFileSync(join(home, 'urls.txt'), list.join('\r\n'));
    const out = join(home, 'articles.ndjson');
    const { code, stdout, stderr } = await runOutrider(
      ['run', '--urls', 'urls.txt', '--out', out, '--concurrency', '8', ...network()],
      { home, env },
    );
    expect(code, stderr).toBe(0);
    expect(stdout).toBe('');
    const lines = readLines(readFileSync(out, 'utf8'));
    const expected = truth.flatMap(({ url, title, expected: end }) => {
      if (end.outcome === 'document') return [{ url, title }];
      return end.outcome === 'redirected' ? [{ url: end.to!, title }] : [];
    });
    const byUrl = (a: { url: string }, b: { url: string }): number => (a.url < b.url ? -1 : 1);
    expect(lines.map(({ url, title }) => ({ url, title })).sort(byUrl)).toEqual(expected.sort(byUrl));
    for (const line of lines) expect(line.text.length).toBeGreaterThan(100);

    const missing = truth.filter((one) => one.expected.outcome === 'dead').length;
    expect(missing).toBeGreaterThan(0);
    expect(stderr).toContain(`${lines.length} articles written to ${out}`);
    expect(stderr).toMatch(new RegExp(`^ +${missing} +dead: not_found$`, 'm'));
    expect(stderr).toMatch(/^ +1 +failed: dns$/m);
    expect(stderr).toMatch(/^ +1 +listed twice or known before$/m);
    expect(stderr).toMatch(/refused \(.+\): ftp:\/\/example\.com\/file/);
    expect(stderr).toMatch(/169\.254\.169\.254|refused_address|private/);
    expect(findPolitenessViolations(web.log.read(since), { delayMs: () => delayMs })).toEqual([]);
    expect(leftBehind()).toEqual([]);
  });

  test('goes to standard output, and may come from standard input', async () => {
    const wanted = truth.filter((one) => one.expected.outcome === 'document').slice(0, 3);
    const { code, stdout, stderr } = await runOutrider(['run', '--urls', '-', ...network()], {
      home,
      env,
      input: wanted.map((one) => `${one.url}\n`).join(''),
    });
    expect(code, stderr).toBe(0);
    expect(
      readLines(stdout)
        .map((line) => line.url)
        .sort(),
    ).toEqual(wanted.map((one) => one.url).sort());
    expect(stderr).toContain('3 articles written');
  });

  test('a date is written by the clock of its page', async () => {
    const told = 'The ferry left the harbour an hour late because the captain waited for a doctor. ';
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(
        `<html><head><title>Late ferry</title><meta property="article:published_time" content="2024-05-03T22:30:00-05:00"></head>
         <body><h1>Late ferry</h1>${`<p>${told.repeat(4)}</p>`.repeat(4)}</body></html>`,
      );
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { code, stdout, stderr } = await runOutrider(
      ['run', '--urls', '-', '--allow-network', `127.0.0.0/8:${port}`],
      { home, input: `http://127.0.0.1:${port}/late-ferry\n` },
    );
    server.close();
    expect(code, stderr).toBe(0);
    expect(readLines(stdout)).toMatchObject([
      { published_at: '2024-05-03T22:30:00.000-05:00', modified_at: null },
    ]);
  });

  test('a file that cannot be written ends with code 2 before anything is fetched', async () => {
    const since = web.log.nextSeq;
    const { code, stderr } = await runOutrider(
      ['run', '--urls', '-', '--out', join(home, 'no', 'such', 'dir.ndjson'), ...network()],
      { home, env, input: `${truth[0]!.url}\n` },
    );
    expect(code).toBe(2);
    expect(stderr).toContain('cannot be written');
    expect(web.log.nextSeq).toBe(since);
    expect(leftBehind()).toEqual([]);
  });

  test.skipIf(!existsSync('/dev/full'))(
    'a disk that is full is told as such, and nothing is left behind',
    async () => {
      const { code, stderr } = await runOutrider(['run', '--urls', '-', '--out', '/dev/full', ...network()], {
        home,
        env,
        input: `${wantedOf(truth)[0]!}\n`,
      });
      expect(stderr).toMatch(/^error: \/dev\/full cannot be written: ENOSPC/m);
      expect(stderr).not.toMatch(/\n {4}at /);
      expect(code).toBe(6);
      expect(leftBehind()).toEqual([]);
    },
  );

  test('a reader that goes away ends it, and nothing is left behind', async () => {
    const one = new Outrider(['run', '--urls', '-', ...network()], {
      home,
      env,
      input: wantedOf(truth).join('\n'),
    });
    one.child.stdout!.destroy();
    const { code, stderr } = await one.ended();
    expect(code, stderr).toBe(0);
    expect(leftBehind()).toEqual([]);
  });

  test('a database that a file names is the one it works on, and keeps its index', async () => {
    const database = await createTestDatabase();
    try {
      writeFileSync(join(home, 'mine.yaml'), `database:\n  url: ${database.url}\n`);
      const [wanted] = wantedOf(truth);
      const { code, stderr } = await runOutrider(
        ['run', '--urls', '-', '--config', 'mine.yaml', ...network()],
        { home, env: { ...env, OUTRIDER_FETCH_DEFAULT_DELAY_MS: String(delayMs) }, input: `${wanted}\n` },
      );
      expect(code, stderr).toBe(0);
      const { rows: sinks } = await database.pool.query('SELECT name, enabled FROM sinks');
      expect(sinks).toEqual([{ name: 'index', enabled: true }]);
      const { rows } = await database.pool.query('SELECT url FROM documents');
      expect(rows).toEqual([{ url: wanted }]);
    } finally {
      await database.drop();
    }
  });

  test('nobody is asked faster on a database of yours than its settings say', async () => {
    const database = await createTestDatabase();
    try {
      // Its pace would be that of every domain that is due there.
      const { code, stderr } = await runOutrider(['run', '--urls', '-', ...network()], {
        home,
        env: { ...env, DATABASE_URL: database.url },
        input: `${truth[0]!.url}\n`,
      });
      expect(code).toBe(2);
      expect(stderr).toContain(`--delay-ms ${delayMs} would hold for every domain`);
      expect(stderr).toContain('temporary database');
      expect((await database.pool.query('SELECT FROM url_frontier')).rowCount).toBe(0);
    } finally {
      await database.drop();
    }
  });

  test('private networks are refused unless allowed', async () => {
    const since = web.log.nextSeq;
    const { code, stderr } = await runOutrider(['run', '--urls', '-', '--delay-ms', '0'], {
      home,
      env,
      input: `${truth[0]!.url}\n`,
    });
    expect(code).toBe(0);
    expect(stderr).toContain('0 articles written');
    expect(stderr).toMatch(/refused_/);
    expect(web.log.nextSeq).toBe(since);
  });
});

test('Ctrl-C ends a run with what it has', async () => {
  const slow = web.groundTruth()[3]!.articles.map((one) => one.url);
  writeFileSync(join(home, 'slow.txt'), slow.join('\n'));
  const out = join(home, 'some.ndjson');
  const one = new Outrider(['run', '--urls', 'slow.txt', '--out', out, ...network()], { home, env });
  await waitUntil('an article is written', () => existsSync(out) && readFileSync(out, 'utf8').includes('\n'));
  const { code, stderr } = await one.stop('SIGINT');
  expect(code, stderr).toBe(130);
  expect(stderr).toContain('Stopped before the end');
  const lines = readLines(readFileSync(out, 'utf8'));
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThan(slow.length);
  expect(stderr).toContain(`${lines.length} articles written`);
  expect(leftBehind()).toEqual([]);
});
