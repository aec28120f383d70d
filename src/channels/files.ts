import type { Queryable } from '../db/index.ts';
import { followGroup } from '../domains/index.ts';
import { submit } from '../frontier/index.ts';
import { channelHash, identifyUrl } from '../url/index.ts';
import { type Channel, isArchiveRead, pollRow } from './channels.ts';
import { endRow } from './moves.ts';

/** A file that a sitemap index names. */
export type SitemapFile = { url: string; modifiedAt: Date | null };

// An index of indexes exists; beyond that it is a maze.
const deepestIndex = 1;

/**
 * Makes the files of a sitemap index rows of their own, each under its domain's lease and with validators of its own.
 * One that the index calls changed is read at once; one that it no longer names, or that has not changed for days, is no
 * longer polled, unless it is one of an archive that nobody has read yet. An address is one channel, so that an index that names itself or its parents leads nowhere.
 */
export async function saveFiles(
  db: Queryable,
  index: Pick<
    Channel,
    'id' | 'sourceId' | 'depth' | 'intervalSeconds' | 'foundBy' | 'takesAll' | 'lastSuccessAt'
  >,
  files: readonly SitemapFile[],
): Promise<void> {
  if (index.depth > deepestIndex) return;
  const named = files.flatMap((file) => {
    const identified = identifyUrl(file.url);
    if (identified.outcome === 'rejected') return [];
    const { identity } = identified;
    return [{ ...file, url: identity.fetchUrl, identity, hash: channelHash(identity.fetchUrl) }];
  });
  await db.query('SELECT channel_add_files($1, $2, $3, $4, $5, $6, $7)', [
    index.id,
    // What archive discovery found is polled whatever the source's mode, and its files are no different.
    index.foundBy === 'archive' ? 'archive' : 'index',
    isArchiveRead(index),
    named.map((one) => one.url),
    named.map((one) => one.identity.bucket),
    named.map((one) => one.identity.domainKey.toString()),
    named.map((one) => one.hash),
  ]);
  // A file that has moved is still named by the address it left.
  const own = await db.query<{ id: number; hashes: Buffer[]; url: string; sourceId: number; waits: boolean }>(
    `SELECT c.id, c.url_hash || ARRAY(SELECT a.url_hash FROM channel_addresses a WHERE a.channel_id = c.id) AS hashes,
            c.url, c.source_id AS "sourceId",
            c.takes_all AND c.created_at > now() - interval '7 days' AND NOT EXISTS (SELECT FROM channel_state s
              WHERE s.bucket = c.bucket AND s.channel_id = c.id AND s.last_success_at IS NOT NULL) AS waits
       FROM channels c WHERE c.parent_id = $1`,
    [index.id],
  );
  const byHash = new Map(named.map((one) => [one.hash.toString('hex'), one]));
  const nameOf = (hashes: readonly Buffer[]) =>
    hashes.map((hash) => byHash.get(hash.toString('hex'))).find((one) => one !== undefined);
  const items = own.rows.flatMap((one) => {
    const file = nameOf(one.hashes);
    return file === undefined ? [] : [{ ...pollRow(one), modifiedAt: file.modifiedAt }];
  });
  if (items.length > 0) {
    await followGroup(
      db,
      index.sourceId,
      named.map((one) => one.identity),
    );
    await submit(db, items);
  }
  for (const one of own.rows.filter((row) => nameOf(row.hashes) === undefined && !row.waits)) {
    await db.query('SELECT channel_drop_file($1, $2)', [one.id, index.id]);
    await endRow(db, one.url, 'channel_removed', null);
  }
}

/** Addresses by which a sitemap may be named: its own and those of the indexes above it, now and before they moved. */
export async function loadNames(db: Queryable, id: number): Promise<string[]> {
  const result = await db.query<{ url: string }>(
    `WITH RECURSIVE up AS (
       SELECT id, parent_id, url FROM channels WHERE id = $1
       UNION SELECT c.id, c.parent_id, c.url FROM channels c JOIN up ON c.id = up.parent_id)
     SELECT url FROM up UNION SELECT a.url FROM channel_addresses a JOIN up ON up.id = a.channel_id`,
    [id],
  );
  return result.rows.map(({ url }) => url);
}

/** What was in a sitemap without dates at its last poll; null: nothing is known. */
export async function loadSeen(db: Queryable, bucket: number, channelId: number): Promise<Buffer | null> {
  const result = await db.query<{ seen: Buffer }>(
    'SELECT seen FROM sitemap_seen WHERE bucket = $1 AND channel_id = $2',
    [bucket, channelId],
  );
  return result.rows[0]?.seen ?? null;
}

/** Remembers what is in a sitemap without dates; after its items are submitted, so that a crash loses none. */
export async function saveSeen(
  db: Queryable,
  bucket: number,
  channelId: number,
  seen: Buffer,
): Promise<void> {
  await db.query(
    `INSERT INTO sitemap_seen (bucket, channel_id, seen) VALUES ($1, $2, $3)
     ON CONFLICT (bucket, channel_id) DO UPDATE SET seen = excluded.seen`,
    [bucket, channelId, seen],
  );
}

/** Deletes what is kept of channels that are gone; answers how many. */
export async function pruneStates(db: Queryable): Promise<number> {
  let pruned = 0;
  for (const table of ['channel_state', 'sitemap_seen']) {
    const result = await db.query(
      `DELETE FROM ${table} s WHERE NOT EXISTS (SELECT FROM channels c WHERE c.id = s.channel_id)`,
    );
    pruned += result.rowCount ?? 0;
  }
  return pruned;
}
