import { createHash, randomInt } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDiscovery } from '../../src/channels/index.ts';
import { destroyServer } from '../../src/db/embedded/index.ts';
import { type Database, openDatabase } from '../../src/db/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { Outrider } from '../process/outrider.ts';
import { findWarcio } from '../warcio/index.ts';
import { type ReadRecord, readFolder, splitMessage, statusOf } from '../warcio/own-reader.ts';
import { type PublisherChange, startWeb, type Web } from '../web/index.ts';
import { isQuiet, makeDue } from './crawl-state.ts';
import { killPoints, reach } from './kill-points.ts';
import { seeded } from './seeded.ts';
import { waitUntil } from './wait.ts';

// CRASH_SEED=… repeats the kill points of a run that failed.
const seed = Number(process.env.CRASH_SEED ?? randomInt(1, 2 ** 31));
const kills = 3;
const found = await findWarcio();
if ('missing' in found) console.warn(`SKIPPED: ${found.missing}`);

const changes: PublisherChange[] = [
  { compression: 'gzip' },
  { faults: [{ name: 'redirect-chain', share: 0.3, options: { hops: 2, status: 301 } }] },
  { compression: 'br' },
  { faults: [{ name: 'status', on: ['article'], share: 0.3, options: { status: 404 } }] },
  { faults: [{ name: 'too-many', options: { retryAfter: '1' }, fromRequest: 8, untilRequest: 10 }] },
  { faults: [{ name: 'wrong-type', on: ['article'], share: 0.3 }] },
  { faults: [{ name: 'slow', options: { delayMs: 100 } }] },
  {},
  {},
  {},
];

let home: string;
let dataDir: string;
let archive: string;
let web: Web;
let database: Database;
let fetcher: Outrider;
const running = new Set<Outrider>();

function start(role: 'fetch' | 'schedule'): Outrider {
  const one = new Outrider([role, '--data', dataDir], {
    home,
    env: {
      OUTRIDER_FETCH_HOSTS_FILE: join(home, 'hosts'),
      OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
      OUTRIDER_FETCH_DEFAULT_DELAY_MS: '50',
      OUTRIDER_FETCH_LEASE_SECONDS: '5',
      OUTRIDER_POLLING_SITEMAP_MAX_AGE_HOURS: '87600',
      OUTRIDER_WARC_DIR: archive,
      OUTRIDER_WARC_MAX_MEGABYTES: '1',
      OUTRIDER_WARC_OPERATOR: 'the test',
      LOG_LEVEL: 'warn',
    },
  });
  running.add(one);
  return one;
}

async function kill(one: Outrider): Promise<void> {
  running.delete(one);
  expect((await one.stop('SIGKILL')).signal).toBe('SIGKILL');
}

async function isDone(): Promise<true | string> {
  const quiet = await isQuiet(database.pool);
  if (quiet !== true) return quiet;
  const left = await database.pool.query<{ n: number }>(
    'SELECT count(*)::integer AS n FROM outbox_responses',
  );
  return left.rows[0]!.n === 0 || `${left.rows[0]!.n} responses wait`;
}

const answersOf = (records: readonly ReadRecord[]): ReadRecord[] =>
  records.filter(({ fields }) => ['response', 'revisit'].includes(fields.get('WARC-Type')!));
/** Lines that can be compared: which address, which status, how often. */
const tally = (lines: readonly string[]): string[] => [...lines].sort();
const lineOf = (record: ReadRecord): string => `${statusOf(record)} ${record.fields.get('WARC-Target-URI')}`;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-warc-'));
  dataDir = join(home, 'data');
  archive = join(home, 'archive');
  web = await startWeb({
    seed: 31,
    publishers: changes.length,
    changes: changes.map((change) => ({ backlog: 14, ratePerDay: 20, ...change })),
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    pageKb: 60,
    speed: 0,
  });
  await web.writeHostsFile(join(home, 'hosts'));
  database = await openDatabase({ dataDir, maxConnections: 3, applicationName: 'warc test' });
  for (const { host } of web.publishers) {
    const { source } = await createSource(database.pool, { url: `http://${host}/` });
    await startDiscovery(database.pool, source.id);
  }
});
afterAll(async () => {
  for (const one of running) await one.stop('SIGKILL');
  await web?.close();
  await database?.close();
  await destroyServer(dataDir);
  rmSync(home, { recursive: true, force: true });
});

test('each response of a crawl is in the files once, although the deliverer is killed again and again', async () => {
  console.log(`CRASH_SEED=${seed}`);
  const between = seeded(seed);
  let schedule = start('schedule');
  // From now on settle keeps responses.
  await waitUntil('the sink is known', async () => {
    const sinks = await database.pool.query(`SELECT FROM sinks WHERE name = 'warc' AND takes = 'responses'`);
    return sinks.rowCount === 1;
  });
  fetcher = start('fetch');
  for (const point of killPoints(between, { kills, certain: 150 })) {
    await reach(web, point);
    await kill(schedule);
    // As if the minute of its lease had passed.
    await database.pool.query('UPDATE sink_states SET lease_owner = NULL, lease_until = NULL');
    schedule = start('schedule');
  }
  await waitUntil('everything is fetched and written', isDone, 120_000);
  const log = web.log.read();
  expect(log.length).toBeGreaterThan(150);
  const answers = answersOf(readFolder(archive));
  expect(tally(answers.map(lineOf))).toEqual(
    tally(log.map(({ host, path, status }) => `${status} http://${host}${path}`)),
  );
  expect(log.some(({ path }) => path === '/robots.txt')).toBe(true);
  for (const status of [200, 301, 404, 429])
    expect(answers.some((one) => statusOf(one) === status)).toBe(true);
}, 240_000);

test('what was not modified refers to the record that has it, and what is fetched twice alike is kept once', async () => {
  const seen = web.log.nextSeq;
  await makeDue(database.pool, 'polls');
  await waitUntil('the channels are polled again', isDone, 120_000);
  const log = web.log.read(seen);
  expect(log.some(({ status }) => status === 304)).toBe(true);
  const answers = answersOf(readFolder(archive));
  const notModified = answers.filter((one) => statusOf(one) === 304);
  expect(notModified.length).toBe(log.filter(({ status }) => status === 304).length);
  const repeated = answers.filter((one) =>
    one.fields.get('WARC-Profile')?.endsWith('/revisit/identical-payload-digest'),
  );
  // What discovery looked at is polled after it.
  expect(repeated.length).toBeGreaterThan(0);
  const byId = new Map(answers.map((one) => [one.fields.get('WARC-Record-ID')!, one]));
  for (const { fields } of answers.filter((one) => one.fields.get('WARC-Type') === 'revisit')) {
    const original = byId.get(fields.get('WARC-Refers-To')!);
    expect(original?.fields.get('WARC-Type')).toBe('response');
    expect(fields.get('WARC-Refers-To-Date')).toBe(original!.fields.get('WARC-Date'));
    expect(fields.get('WARC-Refers-To-Target-URI')).toBe(original!.fields.get('WARC-Target-URI'));
    expect(fields.get('WARC-Target-URI')).toBe(original!.fields.get('WARC-Target-URI'));
    expect(fields.get('WARC-Payload-Digest')).toBe(original!.fields.get('WARC-Payload-Digest'));
  }
});

test('payloads are what the web served, byte by byte', async () => {
  const answers = answersOf(readFolder(archive)).filter((one) => one.fields.get('WARC-Type') === 'response');
  const bytes = new Map<string, Set<number>>();
  for (const { host, path, status, bytes: sent } of web.log.read())
    bytes.set(
      `${status} http://${host}${path}`,
      (bytes.get(`${status} http://${host}${path}`) ?? new Set()).add(sent),
    );
  let compared = 0;
  let cut = 0;
  for (const one of answers) {
    const { head, payload } = splitMessage(one.block);
    if (one.fields.has('WARC-Truncated')) {
      cut += 1;
      continue;
    }
    expect(bytes.get(lineOf(one)), lineOf(one)).toContain(payload.length);
    expect(one.fields.get('WARC-Payload-Digest')).toBe(
      `sha256:${createHash('sha256').update(payload).digest('hex')}`,
    );
    if (statusOf(one) !== 200) continue;
    // The web's clock stands still: what it answers now is what it answered then.
    const served = await fetchPlain(
      one.fields.get('WARC-Target-URI')!,
      /content-encoding: (\w+)/i.exec(head)?.[1],
    );
    if (served.status === 200) {
      expect(payload.equals(served.body), one.fields.get('WARC-Target-URI')).toBe(true);
      compared += 1;
    }
  }
  expect(compared).toBeGreaterThan(80);
  expect(answers.some((one) => /content-encoding: br/i.test(splitMessage(one.block).head))).toBe(true);
  expect(answers.some((one) => /content-encoding: gzip/i.test(splitMessage(one.block).head))).toBe(true);
  expect(cut).toBeLessThan(answers.length / 10);
});

test('a fetcher that is killed takes with it only what it had not settled, and nothing is written twice', async () => {
  const between = seeded(seed + 1);
  const from = web.log.nextSeq;
  for (const { domain } of web.publishers) web.publish(domain, 8);
  await makeDue(database.pool, 'polls');
  for (const point of killPoints(between, { kills, from, certain: 60 })) {
    await reach(web, point);
    await kill(fetcher);
    fetcher = start('fetch');
  }
  await waitUntil('everything is fetched and written', isDone, 120_000);
  for (const one of running) expect((await one.stop('SIGTERM')).code, one.stderr).toBe(0);
  const logged = await database.pool.query<{ line: string }>(
    `SELECT status || ' ' || url AS line FROM crawl_log WHERE status IS NOT NULL`,
  );
  const answers = answersOf(readFolder(archive));
  const whole = answers.filter((one) => one.fields.get('WARC-Truncated') !== 'disconnect');
  expect(tally(whole.map(lineOf))).toEqual(tally(logged.rows.map(({ line }) => line)));
  const ids = readFolder(archive).map(({ fields }) => fields.get('WARC-Record-ID'));
  expect(new Set(ids).size).toBe(ids.length);
  const requested = new Map<string, number>();
  for (const { host, path, status, userAgent } of web.log.read()) {
    if (userAgent === '') continue;
    const line = `${status} http://${host}${path}`;
    requested.set(line, (requested.get(line) ?? 0) + 1);
  }
  for (const one of answers) {
    const left = (requested.get(lineOf(one)) ?? 0) - 1;
    expect(left, lineOf(one)).toBeGreaterThanOrEqual(0);
    requested.set(lineOf(one), left);
  }
}, 240_000);

describe.skipIf('missing' in found)('warcio', () => {
  test('reads every record, finds every digest right and sees what we see', async () => {
    if ('missing' in found) return;
    const files = readdirSync(archive)
      .filter((name) => /\.warc\.gz(\.open)?$/.test(name))
      .sort()
      .map((name) => join(archive, name));
    expect(files.length).toBeGreaterThan(1);
    await found.check(files);
    const theirs = await found.read(files);
    const ours = readFolder(archive);
    expect(theirs.length).toBe(ours.length);
    for (const [index, record] of theirs.entries()) {
      const own = ours[index]!;
      expect(record.problems).toEqual([]);
      if (record.type !== 'revisit') expect(record.digestPassed).toBe(true);
      expect(record.version).toBe('WARC/1.1');
      expect(record.fields).toEqual(Object.fromEntries(own.fields));
      if (record.type === 'warcinfo') continue;
      const { payload } = splitMessage(own.block);
      expect(record.bytes).toBe(payload.length);
      expect(record.sha256).toBe(createHash('sha256').update(payload).digest('hex'));
      if (record.type !== 'request') expect(record.statusLine).toMatch(new RegExp(`^${statusOf(own)} `));
    }
    expect(new Set(theirs.map(({ type }) => type))).toEqual(
      new Set(['warcinfo', 'response', 'request', 'revisit']),
    );
  });
});

/** Asks the web itself, past everything of ours. */
function fetchPlain(
  address: string,
  encoding: string | undefined,
): Promise<{ status: number; body: Buffer }> {
  const { hostname, pathname, search } = new URL(address);
  return new Promise((resolve, reject) => {
    const headers = { host: hostname, 'accept-encoding': encoding ?? 'identity' };
    get({ host: '127.0.0.1', port: web.port, path: pathname + search, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }));
      response.on('error', reject);
    }).on('error', reject);
  });
}
