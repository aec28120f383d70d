import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openFolderStore } from '../../src/blobs/index.ts';
import { Lab, plain } from '../fetch/lab.ts';
import { askWeb } from '../web/client.ts';
import {
  type AccessRecord,
  findForbiddenRequests,
  findPolitenessViolations,
  productToken,
} from '../web/index.ts';
import { loadBalances } from './crawl-state.ts';

const names = ['harbor', 'meadow', 'summit'];
let lab: Lab;
let dir: string;
let log: readonly AccessRecord[];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'outrider-e2e-images-'));
  lab = await Lab.open({
    publishers: names.map((name, layout) => plain(name, [], { layout })),
    env: { OUTRIDER_IMAGES_MODE: 'store', OUTRIDER_BLOBS_DIR: dir },
  });
  for (const name of names) await lab.follow(name, 'feed');
  lab.start();
  await lab.idle();
  // Before the test itself asks the web for anything.
  log = lab.web.log.read();
});
afterAll(async () => {
  await lab?.close();
  rmSync(dir, { recursive: true, force: true });
});

type Row = { page: string; url: string; sha256: Buffer; width: number; height: number };

test('every article of a feed has its picture, and the picture is the one that was served', async () => {
  const rows = await lab.database.pool.query<Row>(
    `SELECT d.url AS page, f.url, m.sha256, m.width, m.height
       FROM documents d
       JOIN image_sightings s ON s.page_domain_key = d.domain_key AND s.page_hash = d.url_hash
       JOIN url_frontier f ON f.bucket = s.bucket AND f.domain_key = s.domain_key AND f.url_hash = s.url_hash
       JOIN images m ON m.sha256 = s.sha256 AND m.stored_at IS NOT NULL`,
  );
  const documents = await lab.database.pool.query('SELECT FROM documents');
  expect(documents.rowCount).toBe(18);
  expect(new Set(rows.rows.map((row) => row.page)).size).toBe(18);
  const blobs = openFolderStore(dir);
  for (const { url, sha256, width, height } of rows.rows) {
    const { body } = await askWeb(lab.web, url);
    expect(createHash('sha256').update(body).digest().equals(sha256)).toBe(true);
    expect([body.readUInt32BE(16), body.readUInt32BE(20)]).toEqual([width, height]);
    expect(await blobs.get(sha256)).toEqual({ outcome: 'found', body });
  }
});

test('images wait for their turn like pages, and every sum agrees', async () => {
  expect(log.filter((record) => record.path.startsWith('/img/')).length).toBeGreaterThanOrEqual(18);
  expect(findPolitenessViolations(log, { delayMs: () => 50 })).toEqual([]);
  expect(findForbiddenRequests(log, { publishers: lab.web.publishers, token: productToken })).toEqual([]);
  for (const [what, one, other] of await loadBalances(lab.database.pool))
    expect([what, one]).toEqual([what, other]);
  const domains = await lab.database.pool.query<{ found: number; stored: number }>(
    'SELECT images_found::integer AS found, images_stored::integer AS stored FROM domains',
  );
  expect(domains.rows).toEqual(names.map(() => ({ found: 6, stored: 6 })));
});
