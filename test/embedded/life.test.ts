import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { destroyServer } from '../../src/db/embedded/index.ts';
import { isAlive, ticketOf } from '../../src/db/embedded/process-identity.ts';
import { canReach } from '../../src/db/embedded/server-user.ts';
import { Driver } from './driver-process.ts';

const isRoot = process.geteuid?.() === 0;
const normalUser = 65_534;
const normalUserCanRun = !isRoot || canReach(fileURLToPath(import.meta.url), normalUser);

let home: string;
let drivers: Driver[] = [];
let dataDirs: string[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'outrider-life-'));
});
afterEach(async () => {
  for (const driver of drivers) await driver.kill();
  for (const dataDir of dataDirs) await destroyServer(dataDir);
  drivers = [];
  dataDirs = [];
  rmSync(home, { recursive: true, force: true });
});

function start(uid?: number): Driver {
  const driver = new Driver({ home, ...(uid === undefined ? {} : { uid }) });
  drivers.push(driver);
  return driver;
}

async function open(dataDir: string, uid?: number): Promise<Driver> {
  const driver = start(uid);
  if (!dataDirs.includes(dataDir)) dataDirs.push(dataDir);
  await driver.open({ dataDir, durable: false });
  return driver;
}

async function bornAt(driver: Driver): Promise<string> {
  const [row] = await driver.query<{ at: string }>('SELECT pg_postmaster_start_time()::text AS at');
  return row!.at;
}

function serverTicket(dataDir: string): string {
  return ticketOf(Number(readFileSync(join(dataDir, 'pg', 'postmaster.pid'), 'utf8').split('\n')[0]));
}

function killServer(dataDir: string): void {
  process.kill(Number(serverTicket(dataDir).split('/')[0]), 'SIGKILL');
}

/**
 * Asks until another server answers, and says how often it failed. Sessions of the dead server may answer for a moment;
 * the statement that meets the loss may fail (its outcome is unknown), and no other.
 */
async function untilNew(user: Driver, born: string): Promise<number> {
  let failures = 0;
  for (;;) {
    const answer = await bornAt(user).catch(() => 'lost');
    if (answer === 'lost') failures += 1;
    else if (answer !== born) return failures;
  }
}

describe('sharing one server', () => {
  test('the first starts it, others join, the last stops it', async () => {
    const dataDir = join(home, 'data');
    const first = await open(dataDir);
    const second = await open(dataDir);
    expect(await bornAt(second)).toBe(await bornAt(first));
    const ticket = serverTicket(dataDir);
    await first.close();
    expect(isAlive(ticket)).toBe(true);
    expect(await second.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await second.close();
    expect(isAlive(ticket)).toBe(false);
    expect(existsSync(join(dataDir, 'pg', 'postmaster.pid'))).toBe(false);
    expect(readdirSync(join(dataDir, 'users'))).toEqual([]);
  });

  test('five processes start at once on an empty directory and share one server', async () => {
    const dataDir = join(home, 'data');
    const all = await Promise.all(Array.from({ length: 5 }, () => open(dataDir)));
    const born = await Promise.all(all.map(bornAt));
    expect(new Set(born).size).toBe(1);
    await Promise.all(all.map((driver) => driver.close()));
    expect(existsSync(join(dataDir, 'pg', 'postmaster.pid'))).toBe(false);
  });

  test('a killed user neither keeps the server up nor takes it down', async () => {
    const dataDir = join(home, 'data');
    const killed = await open(dataDir);
    const living = await open(dataDir);
    const ticket = serverTicket(dataDir);
    await killed.kill();
    expect(await living.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await living.close();
    expect(isAlive(ticket)).toBe(false);
  });

  test('after kill -9 of all users the next start takes over the server they left', async () => {
    const dataDir = join(home, 'data');
    const first = await open(dataDir);
    const born = await bornAt(first);
    await first.kill();
    const next = await open(dataDir);
    expect(await bornAt(next)).toBe(born);
  });
});

describe('after kill -9', () => {
  async function filled(dataDir: string): Promise<Driver> {
    const driver = await open(dataDir);
    await driver.query('CREATE TABLE kept AS SELECT n FROM generate_series(1, 1000) n');
    return driver;
  }
  const count = 'SELECT count(*)::int AS rows FROM kept';

  test('of the server, its users get a new one', async () => {
    const dataDir = join(home, 'data');
    const driver = await filled(dataDir);
    const other = await open(dataDir);
    const born = await bornAt(driver);
    killServer(dataDir);
    expect(await untilNew(driver, born)).toBeLessThanOrEqual(1);
    expect(await driver.query(count)).toEqual([{ rows: 1000 }]);
    expect(await untilNew(other, born)).toBeLessThanOrEqual(1);
    expect(await bornAt(other)).toBe(await bornAt(driver));
  });

  test('of everything, nothing committed is missing', async () => {
    const dataDir = join(home, 'data');
    const driver = await filled(dataDir);
    killServer(dataDir);
    await driver.kill();
    expect(await (await open(dataDir)).query(count)).toEqual([{ rows: 1000 }]);
  });

  test('a pid file that names a living stranger is cleared', async () => {
    const dataDir = join(home, 'data');
    const driver = await filled(dataDir);
    const pidFile = readFileSync(join(dataDir, 'pg', 'postmaster.pid'), 'utf8');
    await driver.close();
    writeFileSync(join(dataDir, 'pg', 'postmaster.pid'), pidFile.replace(/^\d+/, String(process.pid)), {
      mode: 0o600,
    });
    expect(await (await open(dataDir)).query(count)).toEqual([{ rows: 1000 }]);
  });

  test('locks and entries of the dead, and a half-made cluster, are cleared', async () => {
    const dataDir = join(home, 'data');
    mkdirSync(join(dataDir, 'users'), { recursive: true });
    // Our own pid with another start time: a reused pid.
    const dead = `${process.pid}/long.ago/00ff`;
    symlinkSync(dead, join(dataDir, 'lock'));
    symlinkSync(dead, join(dataDir, 'lock.00ff'));
    symlinkSync(dead, join(dataDir, 'users', '00ff'));
    mkdirSync(join(dataDir, 'pg.new-dead', 'base'), { recursive: true });
    const driver = await open(dataDir);
    const ticket = serverTicket(dataDir);
    await driver.close();
    expect(isAlive(ticket)).toBe(false);
    expect(readdirSync(dataDir).filter((name) => /^lock|^pg\./.test(name))).toEqual([]);
  });

  test('while the cluster is being made, the next start makes it', async () => {
    const dataDir = join(home, 'data');
    const first = start();
    dataDirs.push(dataDir);
    first.open({ dataDir, durable: false }).catch(() => undefined);
    await expect
      .poll(() => existsSync(dataDir) && readdirSync(dataDir).some((name) => name.startsWith('pg.new-')), {
        interval: 5,
        timeout: 20_000,
      })
      .toBe(true);
    await first.kill();
    expect(await (await open(dataDir)).query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

describe('places', () => {
  test.each([
    ['spaces and quotes', `data dir, "it's" 100%`],
    ['other scripts', 'данные-資料'],
    ['a path longer than a socket address', `${'long-name-'.repeat(12)}`],
  ])('%s', async (_what, name) => {
    const driver = await open(join(home, name));
    expect(await driver.query("SELECT lower('ÄÖ') AS lower")).toEqual([{ lower: 'äö' }]);
    await driver.close();
  });

  test('below a directory others cannot enter, owned by us', async () => {
    const closed = join(home, 'closed');
    mkdirSync(closed, { mode: 0o700 });
    const driver = await open(join(closed, 'data'));
    expect(await driver.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await driver.close();
  });

  test('an open data directory still has a closed socket and cluster', async () => {
    chmodSync(home, 0o755);
    const dataDir = join(home, 'data');
    mkdirSync(dataDir, { mode: 0o755 });
    const driver = await open(dataDir);
    const [row] = await driver.query<{ sockets: string; addresses: string }>(
      `SELECT current_setting('unix_socket_directories') AS sockets, current_setting('listen_addresses') AS addresses`,
    );
    expect(row).toEqual({ sockets: `"${join(dataDir, 'run')}"`, addresses: '' });
    if (isRoot && normalUserCanRun) {
      const stranger = start(normalUser);
      const databaseUrl = `postgresql://outrider@localhost/outrider?host=${encodeURIComponent(join(dataDir, 'run'))}`;
      await expect(stranger.open({ databaseUrl })).rejects.toMatchObject({ code: 'db_unreachable' });
      await expect(stranger.open({ dataDir })).rejects.toMatchObject({ code: 'db_start_failed' });
    }
    await driver.close();
  });

  test.each([
    ['below a file', (): string => join(home, 'file', 'data')],
    ['a file', (): string => join(home, 'file')],
    ['where nothing can be made', (): string => '/proc/nothing/data'],
  ])('%s is refused with advice', async (_what, path) => {
    writeFileSync(join(home, 'file'), '');
    await expect(start().open({ dataDir: path() })).rejects.toMatchObject({
      code: 'db_start_failed',
      advice: expect.stringContaining('--data'),
    });
  });

  test('data of another PostgreSQL version is refused with advice', async () => {
    const dataDir = join(home, 'data');
    await (await open(dataDir)).close();
    writeFileSync(join(dataDir, 'pg', 'PG_VERSION'), '17\n');
    await expect(open(dataDir)).rejects.toMatchObject({
      code: 'db_start_failed',
      message: expect.stringContaining('version 17'),
      advice: expect.stringContaining('export'),
    });
  });
});

describe.runIf(isRoot)(
  `as root, for a normal user (${normalUserCanRun ? 'can' : 'CANNOT'} read this checkout)`,
  () => {
    test.runIf(normalUserCanRun)('a normal user runs the server under its own id', async () => {
      chownSync(home, normalUser, normalUser);
      const dataDir = join(home, 'data');
      const driver = await open(dataDir, normalUser);
      await driver.query('CREATE TABLE kept (n int)');
      const second = await open(dataDir, normalUser);
      const born = await bornAt(driver);
      expect(await bornAt(second)).toBe(born);
      await driver.close();
      killServer(dataDir);
      expect(await untilNew(second, born)).toBeLessThanOrEqual(1);
      expect(await second.query('SELECT count(*)::int AS rows FROM kept')).toEqual([{ rows: 0 }]);
      await second.close();
    });

    test.runIf(normalUserCanRun)('root may use the data of a user, who can come back', async () => {
      chownSync(home, normalUser, normalUser);
      const dataDir = join(home, 'data');
      await (await open(dataDir, normalUser)).close();
      await (await open(dataDir)).close();
      expect(await (await open(dataDir, normalUser)).query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });

    test('the server never runs as root and its files belong to its own id', async () => {
      const driver = await open(join(home, 'data'));
      const status = readFileSync(`/proc/${serverTicket(join(home, 'data')).split('/')[0]}/status`, 'utf8');
      const uids = /^Uid:\s+(\d+)\s+(\d+)/m.exec(status)!.slice(1);
      expect(uids).not.toContain('0');
      const accounts = readFileSync('/etc/passwd', 'utf8')
        .split('\n')
        .map((line) => line.split(':')[2]);
      expect(accounts).not.toContain(uids[0]);
      await driver.close();
    });
  },
);
