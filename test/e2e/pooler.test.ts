import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDiscovery } from '../../src/channels/index.ts';
import type { Diagnosis } from '../../src/diagnose/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { Outrider, runOutrider } from '../process/outrider.ts';
import { findPgBouncer, startPgBouncer } from '../process/pgbouncer.ts';
import { startTransactionPooler, type TransactionPooler } from '../process/transaction-pooler.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { findPolitenessViolations, startWeb, type Web } from '../web/index.ts';
import { isQuiet, listedIn, loadBalances, loadKnown } from './crawl-state.ts';
import { waitUntil } from './wait.ts';

// Every role and the command line through a pooler that gives each transaction another session: what is kept in a session
// is lost, and what is left in one is met by others. OUTRIDER_POOLER_PUBLISHERS makes the crawl larger.
const publishers = Number(process.env.OUTRIDER_POOLER_PUBLISHERS ?? 4);
const delayMs = 50;
const servers = 4;
const pgBouncer = findPgBouncer();

const socketOf = (url: string): string => new URL(url).searchParams.get('host') ?? '';
const through = (url: string, port: number): string => {
  const { username, pathname } = new URL(url);
  return `postgresql://${username}@127.0.0.1:${port}${pathname}`;
};

type Way = { port: number; close(): Promise<void> };
const ways: [name: string, start: (socketDir: string) => Promise<Way>][] = [
  ['a pooler', (socketDir) => startTransactionPooler({ socketDir, servers })],
  ...(pgBouncer === null
    ? []
    : [
        ['PgBouncer', (socketDir: string) => startPgBouncer({ path: pgBouncer, socketDir, servers })] as [
          string,
          (socketDir: string) => Promise<Way>,
        ],
      ]),
];

describe.each(ways)('through %s', (name, startWay) => {
  let home: string;
  let database: TestDatabase;
  let web: Web;
  let way: Way;
  let env: Record<string, string>;
  const running: Outrider[] = [];
  const start = (...args: string[]): Outrider => {
    const one = new Outrider(args, { home, env });
    running.push(one);
    return one;
  };
  const command = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runOutrider(args, { home, env });
    expect(`${code} ${stderr}`, args.join(' ')).toBe('0 ');
    return stdout;
  };

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'outrider-pooler-'));
    database = await createTestDatabase({ empty: true });
    way = await startWay(socketOf(database.url));
    web = await startWeb({
      seed: 31,
      publishers,
      changes: Array.from({ length: publishers }, () => ({ backlog: 12, ratePerDay: 20 })),
      startMs: Date.parse('2024-06-05T12:00:00Z'),
      speed: 0,
    });
    await web.writeHostsFile(join(home, 'hosts'));
    env = {
      DATABASE_URL: through(database.url, way.port),
      OUTRIDER_FETCH_HOSTS_FILE: join(home, 'hosts'),
      OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
      OUTRIDER_FETCH_DEFAULT_DELAY_MS: String(delayMs),
      OUTRIDER_POLLING_SITEMAP_MAX_AGE_HOURS: '87600',
      OUTRIDER_API_PORT: '0',
      OUTRIDER_FETCH_CONTACT_URL: 'http://localhost/about',
      LOG_LEVEL: 'warn',
    };
  });
  afterAll(async () => {
    for (const one of running) await one.stop('SIGKILL');
    await way?.close();
    await web?.close();
    await database?.drop();
    rmSync(home, { recursive: true, force: true });
  });

  test('an empty database is migrated by whoever comes first, and a crawl runs to its end', async () => {
    start('schedule');
    start('fetch');
    start('fetch');
    start('serve');
    await waitUntil('all are at work', async () => {
      const broken = running.find((one) => !one.isRunning);
      if (broken !== undefined) throw new Error(broken.stderr);
      const { rows } = await database.pool.query<{ n: number }>(
        `SELECT CASE WHEN to_regclass('schema_functions') IS NULL THEN 0 ELSE 1 END AS n`,
      );
      if (rows[0]!.n === 0) return 'the schema is not there';
      const there = await database.pool.query<{ n: number }>('SELECT count(*)::integer AS n FROM workers');
      return there.rows[0]!.n === 4 || `${there.rows[0]!.n} workers`;
    });
    for (const { host } of web.publishers) {
      const { source } = await createSource(database.pool, { url: `http://${host}/` });
      await startDiscovery(database.pool, source.id);
    }
    await waitUntil(
      'the crawl is done',
      async () => {
        const { rows } = await database.pool.query<{ n: number }>(
          'SELECT count(*)::integer AS n FROM documents',
        );
        return rows[0]!.n >= publishers * 5 ? isQuiet(database.pool) : `${rows[0]!.n} documents`;
      },
      120_000,
    );
    const known = await loadKnown(database.pool);
    const channels = await database.pool.query<{ url: string }>('SELECT url FROM channels');
    const listed = listedIn(web.groundTruth(), new Set(channels.rows.map((row) => row.url)));
    expect(listed.length).toBeGreaterThan(publishers * 8);
    expect([...known.values()].filter((row) => row.status === 'fetched').length).toBeGreaterThanOrEqual(
      listed.length * 0.9,
    );
    expect(findPolitenessViolations(web.log.read(), { delayMs: () => delayMs })).toEqual([]);
  }, 180_000);

  test('commands work, and the doctor says that a pooler is between', async () => {
    expect(await command('workers')).toContain('fetch');
    expect(JSON.parse(await command('docs', 'list', '--json'))).not.toEqual([]);
    expect(await command('domain', 'recalculate')).not.toBe('');
    await command('db', 'export', join(home, 'all.gz'));
    const { stdout } = await runOutrider(['doctor', '--json'], { home, env });
    const { findings } = JSON.parse(stdout) as Diagnosis;
    // The embedded server's role has our limits; of one that lacks them a check of the doctor's own tells.
    expect(findings.find((one) => one.name === 'pooler')).toMatchObject({
      state: 'ok',
      sentence: expect.stringContaining('a pooler before the server'),
    });
  }, 240_000);

  test('nothing was left in a session, and all went well', async () => {
    for (const one of running) expect((await one.stop('SIGTERM')).code, one.stderr).toBe(0);
    // A listener that hears nothing, a refused start or a lost lock would be told here.
    for (const one of running) expect(one.stderr.replace(/.*not encrypted.*\n/, '')).toBe('');
    const locks = await database.pool.query(`SELECT FROM pg_locks WHERE locktype = 'advisory'`);
    expect(locks.rowCount).toBe(0);
    for (const [what, one, other] of await loadBalances(database.pool))
      expect([what, one]).toEqual([what, other]);
    if (name !== 'a pooler') return;
    const { counts } = way as TransactionPooler;
    expect(counts.sessionStatements).toEqual([]);
    expect(counts.refusedStarts).toBeGreaterThan(0);
    // Most met another session than the one before: the proof is worth something.
    expect(counts.moved).toBeGreaterThan(counts.transactions / 4);
  });
});
