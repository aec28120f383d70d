import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDiscovery } from '../../src/channels/index.ts';
import { createSource } from '../../src/sources/index.ts';
import { type Certificate, hasOpenssl, makeCertificate } from '../process/certificates.ts';
import { freePort } from '../process/free-port.ts';
import { Outrider, runOutrider } from '../process/outrider.ts';
import { startTlsDoor, type TlsDoor } from '../process/tls-door.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { findPolitenessViolations, startWeb, type Web } from '../web/index.ts';
import { isQuiet, loadBalances } from './crawl-state.ts';
import { waitUntil } from './wait.ts';

// Machines that share nothing but a PostgreSQL, each with a way of its own to it, over TLS that is verified. Without
// openssl no certificate can be made, and nothing of this is run.
const delayMs = 100;
const leaseSeconds = 5;

describe.skipIf(!hasOpenssl())('several machines', () => {
  let home: string;
  let database: TestDatabase;
  let web: Web;
  let certificate: Certificate;
  const doors: TlsDoor[] = [];
  const running: Outrider[] = [];

  const addressBy = (door: TlsDoor, change: { host?: string; authority?: string } = {}): string => {
    const { username, pathname } = new URL(database.url);
    const authority = encodeURIComponent(change.authority ?? certificate.authorityFile);
    return `postgresql://${username}@${change.host ?? 'localhost'}:${door.port}${pathname}?sslmode=verify-full&sslrootcert=${authority}`;
  };
  const addMachine = async (): Promise<TlsDoor> => {
    const socketDir = new URL(database.url).searchParams.get('host') ?? '';
    const door = await startTlsDoor(socketDir, certificate);
    doors.push(door);
    return door;
  };
  const start = (args: string[], url: string): Outrider => {
    const one = new Outrider(args, {
      home,
      env: {
        DATABASE_URL: url,
        OUTRIDER_FETCH_HOSTS_FILE: join(home, 'hosts'),
        OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
        OUTRIDER_FETCH_DEFAULT_DELAY_MS: String(delayMs),
        OUTRIDER_FETCH_LEASE_SECONDS: String(leaseSeconds),
        OUTRIDER_POLLING_SITEMAP_MAX_AGE_HOURS: '87600',
        LOG_LEVEL: 'warn',
      },
    });
    running.push(one);
    return one;
  };
  const count = async (sql: string, values: unknown[] = []): Promise<number> =>
    (await database.pool.query<{ n: number }>(`SELECT (${sql})::integer AS n`, values)).rows[0]!.n;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'outrider-hosts-'));
    mkdirSync(join(home, 'other'));
    database = await createTestDatabase();
    certificate = makeCertificate(home, 'localhost');
    web = await startWeb({
      seed: 41,
      publishers: 6,
      changes: Array.from({ length: 6 }, () => ({
        backlog: 15,
        ratePerDay: 20,
        faults: [{ name: 'slow' as const, options: { delayMs: 150 } }],
      })),
      startMs: Date.parse('2024-06-05T12:00:00Z'),
      speed: 0,
    });
    await web.writeHostsFile(join(home, 'hosts'));
  });
  afterAll(async () => {
    for (const one of running) await one.stop('SIGKILL');
    for (const door of doors) await door.close();
    await web?.close();
    await database?.drop();
    rmSync(home, { recursive: true, force: true });
  });

  test('a server whose certificate is not its own is not spoken to', async () => {
    const door = await addMachine();
    const ask = async (url: string): Promise<string> => {
      const { code, stderr } = await runOutrider(['migrate', '--status'], {
        home,
        env: { DATABASE_URL: url },
      });
      return `${code} ${stderr}`;
    };
    expect(await ask(addressBy(door))).toBe('0 ');
    const other = makeCertificate(join(home, 'other'), 'localhost');
    expect(await ask(addressBy(door, { authority: other.authorityFile }))).toMatch(/certificate was refused/);
    expect(await ask(addressBy(door, { host: '127.0.0.1' }))).toMatch(/certificate is another name's/);
  });

  test('a machine that is cut off for twice its lease comes back and changes nothing of what others did', async () => {
    for (const { host } of web.publishers) {
      const { source } = await createSource(database.pool, { url: `http://${host}/` });
      await startDiscovery(database.pool, source.id);
    }
    const healthPort = await freePort();
    const [home1, lonely, late] = [await addMachine(), await addMachine(), await addMachine()];
    start(['schedule'], addressBy(home1));
    const cut = start(['fetch', '--health-port', String(healthPort)], addressBy(lonely));
    const held = `SELECT count(*) FROM domain_slots WHERE lease_owner LIKE '%-' || $1 || '-%' AND cardinality(in_flight) > 2`;
    await waitUntil(
      'it is in the middle of something',
      async () => {
        const [leases, documents] = [
          await count(held, [cut.pid]),
          await count('SELECT count(*) FROM documents'),
        ];
        return (leases > 0 && documents > 5) || `${leases} leases, ${documents} documents`;
      },
      120_000,
    );
    const taken = await database.pool.query<{ key: string; epoch: string }>(
      `SELECT domain_key::text AS key, lease_epoch::text AS epoch FROM domain_slots WHERE lease_owner LIKE '%-' || $1 || '-%'`,
      [cut.pid],
    );
    lonely.setCut(true);
    // Nobody is told of a new machine: it only needs the address.
    start(['fetch'], addressBy(late));
    await waitUntil('others have what it held, and twice its lease has passed', async () => {
      const { rows } = await database.pool.query<{ left: number; waited: boolean }>(
        `SELECT count(*) FILTER (WHERE s.lease_epoch = t.epoch)::integer AS left,
                max(w.heartbeat_at) < now() - make_interval(secs => $4) AS waited
           FROM unnest($1::bigint[], $2::bigint[]) AS t(key, epoch) JOIN domain_slots s ON s.domain_key = t.key
           LEFT JOIN workers w ON w.pid = $3`,
        [taken.rows.map((one) => one.key), taken.rows.map((one) => one.epoch), cut.pid, 2 * leaseSeconds],
      );
      return (rows[0]!.left === 0 && rows[0]!.waited) || JSON.stringify(rows[0]);
    });
    lonely.setCut(false);
    await waitUntil('the crawl is done', () => isQuiet(database.pool), 90_000);
    // What came too late was counted, and its requests are in the log all the same.
    const metrics = await (await fetch(`http://127.0.0.1:${healthPort}/metrics`)).text();
    expect(Number(/^outrider_stale_settles_total (\d+)/m.exec(metrics)?.[1])).toBeGreaterThan(0);
    expect(await count('SELECT count(*) FROM crawl_log WHERE stale')).toBeGreaterThan(0);
    // It works on: it is one of two again.
    expect(cut.isRunning).toBe(true);
    for (const one of running) expect((await one.stop('SIGTERM')).code, one.stderr).toBe(0);
    expect(await count('SELECT count(*) FROM workers')).toBe(0);
    expect(await count('SELECT coalesce(max(version), 0) FROM documents')).toBe(1);
    for (const [what, one, other] of await loadBalances(database.pool))
      expect([what, one]).toEqual([what, other]);
    expect(findPolitenessViolations(web.log.read(), { delayMs: () => delayMs })).toEqual([]);
  }, 300_000);
});
