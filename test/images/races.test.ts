import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openFolderStore } from '../../src/blobs/index.ts';
import { findSlotProblems, type SubmitItem, submit } from '../../src/frontier/index.ts';
import { claimImage, sightSubmitted, sweepImages } from '../../src/images/index.ts';
import { answers, done, finish, item, take } from '../frontier/fixtures.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

const facts = { format: 'png', width: 300, height: 300, perceptualHash: null, storedIn: 'folder' } as const;
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
const imageItem = (host: string, name: string, page: string): SubmitItem =>
  item(host, name, { kind: 'image', origin: 'spider', priority: 1, parentUrl: page, own: false });

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase({ maxConnections: 12 });
});
afterAll(() => test.drop());
beforeEach(async () => {
  await test.pool.query(
    'TRUNCATE url_frontier, domain_slots, domains, images, image_sightings, foreign_hosts, counter_deltas',
  );
});

describe('a page that shows an image', () => {
  it('is linked with it whether it came before, after or while the image was settled', async () => {
    const pages = Array.from({ length: 24 }, (_, n) => `https://paper.test/${n}`);
    const hash = sha256('bytes');
    await submit(test.pool, [imageItem('cdn.test', 'a.png', pages[0]!)]);
    await sightSubmitted(test.pool, [imageItem('cdn.test', 'a.png', pages[0]!)], null);
    const [lease] = await take(test.db);
    await claimImage(test.pool, { ...facts, sha256: hash, bytes: 5 });
    const settled = (async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return finish(test.db, lease!, {
        items: [done(lease!.urls[0]!.hash, { kind: 'image', contentHash: hash })],
      });
    })();
    await Promise.all([
      settled,
      ...pages.slice(1).map(async (page) => {
        const one = [imageItem('cdn.test', 'a.png', page)];
        await submit(test.pool, one);
        await sightSubmitted(test.pool, one, 7n);
      }),
    ]);
    const linked = await test.pool.query<{ linked: number; all: number }>(
      'SELECT count(sha256)::integer AS linked, count(*)::integer AS all FROM image_sightings',
    );
    expect(linked.rows).toEqual([{ linked: 24, all: 24 }]);
    const images = await test.pool.query(
      'SELECT stored_at IS NOT NULL AS stored, idle_since AS idle FROM images',
    );
    expect(images.rows).toEqual([{ stored: true, idle: null }]);
    expect(await findSlotProblems(test.pool)).toEqual([]);
  });

  it('wants it again when it was swept, also while its host is being worked on', async () => {
    const hash = sha256('bytes');
    const one = [imageItem('cdn.test', 'a.png', 'https://paper.test/1')];
    await submit(test.pool, [...one, imageItem('cdn.test', 'b.png', 'https://paper.test/1')]);
    await sightSubmitted(test.pool, one, null);
    const [lease] = await take(test.db);
    await claimImage(test.pool, { ...facts, sha256: hash, bytes: 5 });
    const row = lease!.urls.find((url) => url.url.endsWith('a.png'))!;
    const items = [done(row.hash, { kind: 'image', contentHash: hash })];
    await finish(test.db, lease!, { items, final: false });
    await test.pool.query('DELETE FROM images');
    await sightSubmitted(test.pool, [imageItem('cdn.test', 'a.png', 'https://paper.test/2')], null);
    const rows = await test.pool.query<{ url: string; status: string; ready: boolean }>(
      'SELECT url, status, ready FROM url_frontier ORDER BY url',
    );
    expect(rows.rows).toEqual([
      { url: 'https://cdn.test/a.png', status: 'pending', ready: true },
      { url: 'https://cdn.test/b.png', status: 'pending', ready: true },
    ]);
    const links = await test.pool.query('SELECT sha256 FROM image_sightings');
    expect(links.rows).toEqual([{ sha256: null }, { sha256: null }]);
    const second = lease!.urls.find((url) => url.url.endsWith('b.png'))!;
    await finish(test.db, lease!, { items: [done(second.hash, { kind: 'image' })] });
    expect(await findSlotProblems(test.pool)).toEqual([]);
    const again = await take(test.db, { skewMs: 60_000 });
    expect(again.flatMap((next) => next.urls.map((url) => url.url))).toEqual(['https://cdn.test/a.png']);
  });
});

describe('the sweep', () => {
  it('goes on behind images that the store will not delete, and asks again after the grace', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'outrider-sweep-'));
    const blobs = openFolderStore(dir);
    const names = Array.from({ length: 12 }, (_, n) => `body ${n}`);
    await test.pool.query('TRUNCATE images');
    for (const [n, name] of names.entries()) {
      await claimImage(test.pool, { ...facts, sha256: sha256(name), bytes: name.length });
      await blobs.put(sha256(name), Buffer.from(name), 'image/png');
      await test.pool.query(
        `UPDATE images SET idle_since = now() - $2 * interval '1 day' WHERE sha256 = $1`,
        [sha256(name), 30 - n],
      );
    }
    // A folder in the place of a file cannot be deleted as one; seven of the eldest.
    const stuck = names.slice(0, 7);
    const pathOf = (name: string): string => {
      const hex = sha256(name).toString('hex');
      return join(dir, hex.slice(0, 2), hex.slice(2, 4), hex);
    };
    for (const name of stuck) {
      rmSync(pathOf(name));
      mkdirSync(pathOf(name));
    }
    const first = await sweepImages(test.db, blobs, { graceDays: 7 });
    expect(first).toMatchObject({ swept: 0, failed: expect.any(String) });
    const second = await sweepImages(test.db, blobs, { graceDays: 7 });
    expect(second).toMatchObject({ swept: 5, failed: expect.any(String) });
    const left = await test.pool.query<{ sha256: Buffer }>('SELECT sha256 FROM images');
    expect(left.rows.map((row) => row.sha256.toString('hex')).sort()).toEqual(
      stuck.map((name) => sha256(name).toString('hex')).sort(),
    );
    expect(await sweepImages(test.db, blobs, { graceDays: 7 })).toEqual({ swept: 0, failed: null });
    for (const name of stuck) rmSync(pathOf(name), { recursive: true });
    await test.pool.query(`UPDATE images SET idle_since = idle_since - interval '8 days'`);
    expect(await sweepImages(test.db, blobs, { graceDays: 7 })).toEqual({ swept: 7, failed: null });
    rmSync(dir, { recursive: true, force: true });
  });

  it('never deletes the bytes of an image that is being stored', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'outrider-sweep-'));
    const blobs = openFolderStore(dir);
    const body = Buffer.from('bytes');
    const hash = sha256('bytes');
    for (let round = 0; round < 40; round += 1) {
      // As somebody left it days ago.
      await claimImage(test.pool, { ...facts, sha256: hash, bytes: 5 });
      await blobs.put(hash, body, 'image/png');
      await test.pool.query(`UPDATE images SET idle_since = now() - interval '9 days'`);
      await Promise.all([
        sweepImages(test.db, blobs, { graceDays: 7 }),
        (async () => {
          await claimImage(test.pool, { ...facts, sha256: hash, bytes: 5 });
          await blobs.put(hash, body, 'image/png');
        })(),
      ]);
      // Whoever was first: the one who stores has announced it last, so it is there and whole.
      const rows = await test.pool.query('SELECT FROM images');
      expect([rows.rowCount, (await blobs.has(hash)).outcome]).toEqual([1, 'found']);
    }
    rmSync(dir, { recursive: true, force: true });
  });
});

describe('foreign hosts', () => {
  it('may have any number of images, but only fifty new ones a day', async () => {
    const page = 'https://d1.test/story';
    const many = Array.from({ length: 150 }, (_, n) => imageItem('cdn.test', `${n}.png`, page));
    expect(new Set(await answers(test.db, many))).toEqual(new Set(['inserted']));
    const hosts = Array.from({ length: 60 }, (_, n) => imageItem(`host${n}.test`, 'a.png', page));
    const given = await answers(test.db, hosts);
    expect(given.filter((one) => one === 'inserted')).toHaveLength(49);
    expect(given.filter((one) => one === 'rejected:foreign_hosts')).toHaveLength(11);
    // They take nothing from what pages of the same host may have.
    const pages = Array.from({ length: 120 }, (_, n) => item('cdn.test', `page-${n}`, { own: false }));
    const answered = await answers(test.db, pages);
    expect(answered.filter((one) => one === 'inserted')).toHaveLength(100);
    expect(answered.filter((one) => one === 'rejected:foreign_urls')).toHaveLength(20);
  });
});
