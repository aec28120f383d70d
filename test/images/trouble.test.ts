import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Source } from '../../src/sources/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { startS3, type TestS3 } from '../s3/server.ts';
import { encodePng, paint } from './encoders.ts';
import { ImageLab } from './lab.ts';

const size = { width: 300, height: 300 };
const bodies = [1, 2, 3, 4].map((seed) => encodePng(size, paint(seed, size)));
const sha256 = (body: Buffer): string => createHash('sha256').update(body).digest('hex');
const imageUrls = bodies.map((_, nth) => `http://cdn.test/${nth}.png`);

let s3: TestS3;
let lab: ImageLab;
let source: Source;

beforeEach(async () => {
  s3 = await startS3();
  lab = await ImageLab.open(['paper.test', 'cdn.test'], s3);
  for (const [nth, body] of bodies.entries()) lab.site.serve(imageUrls[nth]!, { type: 'image/png', body });
  lab.site.servePage('http://paper.test/a', 'A story', { images: imageUrls });
  source = await lab.source('http://paper.test/', 'store');
  await lab.submit('http://paper.test/a', source);
});
afterEach(async () => {
  await lab.close();
  await s3.close();
});

/** Everything is stored once, linked once, and is what was served. */
async function expectWhole(): Promise<void> {
  const stored = await lab.stored();
  expect(stored.map((image) => image.sha256).sort()).toEqual(bodies.map(sha256).sort());
  expect(stored.every((image) => image.pages === 1 && image.storedIn === 's3')).toBe(true);
  expect([...s3.objects.values()].map((object) => sha256(object.body)).sort()).toEqual(
    bodies.map(sha256).sort(),
  );
  const rows = await lab.database.pool.query<{ images: number; sightings: number; idle: number }>(
    `SELECT (SELECT count(*)::integer FROM images) AS images, (SELECT count(*)::integer FROM image_sightings) AS sightings,
            (SELECT count(*)::integer FROM images WHERE idle_since IS NOT NULL) AS idle`,
  );
  expect(rows.rows).toEqual([{ images: 4, sightings: 4, idle: 0 }]);
}

it('a fetcher that is killed between the blob and the settle loses nothing and repeats nothing', async () => {
  // The second object is kept, but its answer never comes: the fetcher stands exactly between the two.
  let puts = 0;
  s3.setFault(({ method }) => {
    if (method !== 'PUT') return null;
    puts += 1;
    return puts === 2 ? 'stall_after' : null;
  });
  const victim = lab.start();
  await waitUntil('two objects are there', () => s3.objects.size === 2 || `${s3.objects.size}`);
  expect((await victim.stop('SIGKILL')).signal).toBe('SIGKILL');
  const halfway = await lab.database.pool.query<{ announced: number }>(
    'SELECT count(*)::integer AS announced FROM images WHERE stored_at IS NULL',
  );
  expect(halfway.rows[0]!.announced).toBeGreaterThanOrEqual(1);

  s3.setFault(null);
  lab.start();
  await lab.idle();
  await expectWhole();
  // Only what was not settled was asked for again.
  expect(imageUrls.map((url) => lab.site.count(url)).reduce((a, b) => a + b)).toBeLessThanOrEqual(6);
});

it('a store that is away for a while makes images wait: none is lost, and publishers are left alone', async () => {
  s3.setFault(() => ({ status: 503, code: 'SlowDown' }));
  const first = lab.start();
  await waitUntil('an image could not be stored', async () => {
    const states = await Promise.all(imageUrls.map((url) => lab.state(url)));
    return states.every((state) => state === 'failed image_store_unavailable') || String(states);
  });
  const tries = await lab.database.pool.query<{ tries: number }>(
    `SELECT DISTINCT tries FROM url_frontier WHERE kind = 'image'`,
  );
  expect(tries.rows).toEqual([{ tries: 0 }]);
  // One was fetched in vain; the others were not asked for.
  expect(imageUrls.map((url) => lab.site.count(url)).reduce((a, b) => a + b)).toBe(1);
  expect(await lab.stored()).toEqual([]);
  expect(first.stdout + first.stderr).toContain('could not be stored');

  s3.setFault(null);
  await first.stop();
  lab.start();
  await lab.hurry();
  await lab.idle();
  await expectWhole();
});
