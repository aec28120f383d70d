import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { destroyServer } from '../../src/db/embedded/index.ts';
import { isPassing, openDatabase } from '../../src/db/index.ts';
import { submit } from '../../src/frontier/index.ts';
import { listSinks, saveSink } from '../../src/outbox/index.ts';
import { createNdjsonSink } from '../../src/sinks/files/index.ts';
import { hashOf, loadBalances, loadKnown } from '../e2e/crawl-state.ts';
import { waitUntil } from '../e2e/wait.ts';
import { plain } from '../fetch/lab.ts';
import { Outrider, runOutrider } from '../process/outrider.ts';
import { createTestDatabase } from '../setup/database.ts';
import { delivererOf } from '../sinks/deliver.ts';
import { idOf, storeDocuments } from '../sinks/store.ts';
import { findPolitenessViolations, startWeb } from '../web/index.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';

// Real file systems that are really full. Where nobody may mount one, there is nothing to fill.
let home: string;
const homes: string[] = [];
const disks: SmallDisk[] = [];

function makeDisk(megabytes: number): SmallDisk | undefined {
  home = mkdtempSync(join(tmpdir(), 'outrider-full-'));
  homes.push(home);
  const disk = mountSmallDisk(home, megabytes);
  if (disk !== undefined) disks.push(disk);
  return disk;
}
let databaseDisk: SmallDisk | undefined;
let fileDisk: SmallDisk | undefined;

beforeAll(() => {
  fileDisk = makeDisk(1);
  databaseDisk = makeDisk(320);
});
afterAll(() => {
  for (const disk of disks) disk.unmount();
  for (const one of homes) rmSync(one, { recursive: true, force: true });
});

test('the disk of the database is full: nothing is lost, and all goes on when there is room', async ({
  skip,
}) => {
  if (databaseDisk === undefined) return skip('a small file system cannot be mounted here');
  const dataDir = join(databaseDisk.dir, 'data');
  const backlog = 30;
  const web = await startWeb({
    seed: 5,
    publishers: 2,
    changes: ['first', 'second'].map((name) => plain(name, [], { backlog })),
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
  });
  await web.writeHostsFile(join(home, 'hosts'));
  const database = await openDatabase({ dataDir, maxConnections: 3 });
  const start = (): Outrider =>
    new Outrider(['fetch', '--data', dataDir], {
      home,
      env: {
        OUTRIDER_FETCH_HOSTS_FILE: join(home, 'hosts'),
        OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
        OUTRIDER_FETCH_DEFAULT_DELAY_MS: '100',
        OUTRIDER_FETCH_LEASE_SECONDS: '5',
        LOG_LEVEL: 'warn',
      },
    });
  let fetcher = start();
  try {
    const urls = web.groundTruth().flatMap(({ articles }) => articles.map(({ url }) => url));
    const item = { kind: 'article', origin: 'manual', sourceId: null, priority: 5, own: true } as const;
    await submit(
      database.pool,
      urls.map((url) => ({ ...item, url })),
    );
    await waitUntil('it is under way', () => web.log.nextSeq >= 10);
    databaseDisk.fill();
    // Whatever it is that there is no room for: the table, the log of changes, or the server as a whole.
    const refused = async (): Promise<boolean> => {
      try {
        await database.pool.query(
          'CREATE TABLE IF NOT EXISTS ballast (bytes text); INSERT INTO ballast SELECT repeat(md5(n::text), 200) FROM generate_series(1, 2000) n',
        );
        return false;
      } catch (error) {
        expect(isPassing(error) || (error as { code?: string }).code === 'db_disk_full', String(error)).toBe(
          true,
        );
        return true;
      }
    };
    await waitUntil('the database takes nothing more', refused);
    const during = web.log.nextSeq;
    databaseDisk.free();
    if (!fetcher.isRunning) fetcher = start();
    const done = async (): Promise<true | string> => {
      try {
        const known = await loadKnown(database.pool);
        const left = urls.filter((url) => known.get(hashOf(url))?.status !== 'fetched');
        return left.length === 0 || `${left.length} left; ${fetcher.stderr.slice(-300)}`;
      } catch (error) {
        return String(error);
      }
    };
    await waitUntil('all are fetched', done, 90_000);
    expect(web.log.nextSeq).toBeGreaterThan(during);
    for (const [what, one, other] of await loadBalances(database.pool))
      expect([what, one]).toEqual([what, other]);
    expect(findPolitenessViolations(web.log.read(), { delayMs: () => 100 })).toEqual([]);
    console.log(`${web.log.nextSeq} requests for ${urls.length} pages`);
    expect((await fetcher.stop('SIGTERM')).code, fetcher.stderr).toBe(0);
  } finally {
    databaseDisk.free();
    await fetcher.stop('SIGKILL');
    await web.close();
    await database.close();
    await destroyServer(dataDir);
  }
}, 180_000);

test('a restore that fills the disk is undone and says so, and works when there is room', async ({
  skip,
}) => {
  const own = mkdtempSync(join(tmpdir(), 'outrider-full-'));
  homes.push(own);
  const disk = mountSmallDisk(own, 120);
  if (disk === undefined) return skip('a small file system cannot be mounted here');
  disks.push(disk);
  const run = (args: string[], env = {}): ReturnType<typeof runOutrider> =>
    runOutrider(args, { home: own, env });
  const source = await createTestDatabase();
  try {
    await source.pool.query(
      `INSERT INTO audit (actor, action, subject)
       SELECT 'test', 'filled', (SELECT string_agg(md5(n || '.' || part), '') FROM generate_series(1, 60) AS part)
         FROM generate_series(1, 50000) AS n`,
    );
    const saved = await run(['backup', join(own, 'saved')], { DATABASE_URL: source.url });
    expect(saved.code, saved.stderr).toBe(0);
    const dataDir = join(disk.dir, 'data');
    const restore = ['restore', join(own, 'saved'), '--data', dataDir];
    const full = await run(restore);
    expect([full.code, full.stderr]).toEqual([
      6,
      expect.stringContaining('the disk of the database is full'),
    ]);
    execFileSync('mount', ['-o', 'remount,size=600m', disk.dir]);
    // All of it was undone: an empty database is asked for, and there is one.
    const again = await run(restore);
    expect(again.code, again.stderr).toBe(0);
    expect(again.stdout).toContain('every sum was right');
    await destroyServer(dataDir);
  } finally {
    await source.drop();
  }
}, 180_000);

test('the disk of the worker is full: documents wait, and each stands in the files once', async ({
  skip,
}) => {
  if (fileDisk === undefined) return skip('a small file system cannot be mounted here');
  const database = await createTestDatabase();
  const dir = join(fileDisk.dir, 'documents');
  const make = () =>
    createNdjsonSink({ name: 'files', dir, mostBytes: 40_000, mostAgeMs: 3_600_000, now: () => Date.now() });
  const run = async (): Promise<void> => {
    await database.pool.query('UPDATE sink_states SET retry_at = NULL');
    const deliverer = delivererOf(database, make());
    for (let n = 0; n < 200 && (await deliverer.turn(new AbortController().signal)) === 'busy'; n += 1);
    await deliverer.stop();
  };
  const state = async () => (await listSinks(database.pool)).find(({ name }) => name === 'files')!;
  const urls = Array.from({ length: 40 }, (_, n) => `https://paper.example/${n}`);
  try {
    await saveSink(database.pool, make());
    await storeDocuments(
      database.pool,
      urls.slice(0, 20).map((url) => ({ url })),
    );
    await run();
    await storeDocuments(
      database.pool,
      urls.slice(20).map((url) => ({ url })),
    );
    fileDisk.fill();
    await run();
    expect(await state()).toMatchObject({
      waiting: 20,
      deadLetters: 0,
      error: expect.stringMatching(/ENOSPC/),
    });
    fileDisk.free();
    await run();
    expect(await state()).toMatchObject({ waiting: 0, deadLetters: 0, error: null });
    const lines = readdirSync(dir)
      .filter((name) => name.startsWith('documents-'))
      .flatMap((name) => readFileSync(join(dir, name), 'utf8').trimEnd().split('\n'));
    const ids = lines.map((line) => (JSON.parse(line) as { id: string }).id);
    expect(ids.sort()).toEqual(urls.map(idOf).sort());
  } finally {
    await database.drop();
  }
});
