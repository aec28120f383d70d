import type { Queryable } from '../db/index.ts';
import type { ArchivePlace } from './candidates.ts';

/** A domain by its key. */
export type ArchiveKey = { bucket: number; domainKey: bigint };

/** A domain whose archives are looked for, with what decides whether now. */
export type ArchiveDomain = ArchiveKey & {
  name: string;
  sourceId: number | null;
  /** Somebody listed it: it is looked at without a source too. */
  isSeeded: boolean;
  entryUrl: string | null;
  status: string;
  isCrawled: boolean;
  /** Since it was last looked at. */
  restedMs: number;
  /** Until its budget renews; null: something of it is left. */
  budgetMs: number | null;
  /** URLs of priority 5 and more that are ready, counted up to 20. */
  pending: number;
  now: Date;
};

/** Enters domains of sources; one that is known keeps its time and, while it has one, its source. */
export async function enterArchiveDomains(
  db: Queryable,
  domains: readonly (ArchiveKey & { sourceId: number })[],
  firstLookMs: number,
): Promise<void> {
  if (domains.length === 0) return;
  await db.query(
    `INSERT INTO archive_domains AS a (bucket, domain_key, source_id, looked_at, next_at)
     SELECT DISTINCT ON (bucket, domain_key) bucket, domain_key, source_id, now(), now() + $4 * interval '1 millisecond'
       FROM unnest($1::smallint[], $2::bigint[], $3::integer[]) AS n(bucket, domain_key, source_id)
      ORDER BY bucket, domain_key, source_id
     ON CONFLICT (bucket, domain_key) DO UPDATE SET source_id = excluded.source_id WHERE a.source_id IS NULL`,
    [
      domains.map((one) => one.bucket),
      domains.map((one) => one.domainKey.toString()),
      domains.map((one) => one.sourceId),
      firstLookMs,
    ],
  );
}

// Whoever takes a domain has this long; after a crash the next one goes on where it stood.
const takenMs = 600_000;
const enough = 20;

// Two probes of url_frontier_pick, which ends at the twentieth row; the rest is keys. Channels stand above the levels of
// pages and are few. Of 200,000 domains twenty with 100 ready URLs each were taken in 1.5 ms, 66 buffers for each.
const facts = `
  SELECT t.bucket, t.domain_key AS "domainKey", t.source_id AS "sourceId", d.name, d.dataset IS NOT NULL AS "isSeeded",
         d.entry_url AS "entryUrl", d.status, d.last_crawled_at IS NOT NULL AS "isCrawled",
         extract(epoch FROM now() - t.looked_at)::float8 * 1000 AS "restedMs", now() AS now,
         CASE WHEN NOT slot_budget_open(s, now()) THEN extract(epoch FROM s.budget_until - now())::float8 * 1000 END AS "budgetMs",
         (SELECT sum(n)::integer FROM (VALUES (false), (true)) AS b(budgeted) CROSS JOIN LATERAL (
            SELECT count(*) AS n FROM (SELECT FROM url_frontier f
             WHERE f.bucket = t.bucket AND f.domain_key = t.domain_key AND f.ready AND f.budgeted = b.budgeted
               AND f.level >= 5 AND f.kind IN ('article', 'listing') LIMIT ${enough}) x) c) AS pending
    FROM taken t
    JOIN domains d ON d.bucket = t.bucket AND d.domain_key = t.domain_key
    JOIN domain_slots s ON s.bucket = t.bucket AND s.domain_key = t.domain_key`;

/** Takes domains whose time has come, longest waiting first, from everybody else. Index: archive_domains_next. */
export async function takeDueArchives(db: Queryable, most: number): Promise<ArchiveDomain[]> {
  const result = await db.query<ArchiveDomain>(
    `WITH due AS (
       SELECT bucket, domain_key FROM archive_domains WHERE next_at <= now() ORDER BY next_at LIMIT $1 FOR UPDATE SKIP LOCKED
     ), taken AS (
       UPDATE archive_domains a SET next_at = now() + ${takenMs} * interval '1 millisecond' FROM due
        WHERE a.bucket = due.bucket AND a.domain_key = due.domain_key RETURNING a.*)
     ${facts}`,
    [most],
  );
  return result.rows;
}

/** One domain with its facts, whether its time has come or not; null: its archives are not looked for. */
export async function loadArchiveDomain(db: Queryable, key: ArchiveKey): Promise<ArchiveDomain | null> {
  const result = await db.query<ArchiveDomain>(
    `WITH taken AS (SELECT * FROM archive_domains WHERE bucket = $1 AND domain_key = $2) ${facts}`,
    [key.bucket, key.domainKey.toString()],
  );
  return result.rows[0] ?? null;
}

/** Says when a domain is looked at next, and whether this was a look. */
export async function saveNextLook(
  db: Queryable,
  key: ArchiveKey,
  next: { inMs: number; looked: boolean },
): Promise<void> {
  await db.query(
    `UPDATE archive_domains SET next_at = now() + $3 * interval '1 millisecond',
            looked_at = CASE WHEN $4 THEN now() ELSE looked_at END WHERE bucket = $1 AND domain_key = $2`,
    [key.bucket, key.domainKey.toString(), next.inMs, next.looked],
  );
}

/** Forgets whose a domain is; one that nobody seeded is no longer looked at. What was tried stays remembered. */
export async function leaveArchiveDomain(
  db: Queryable,
  { bucket, domainKey, isSeeded }: ArchiveDomain,
): Promise<void> {
  const sql = isSeeded
    ? 'UPDATE archive_domains SET source_id = NULL WHERE bucket = $1 AND domain_key = $2'
    : 'DELETE FROM archive_domains WHERE bucket = $1 AND domain_key = $2';
  await db.query(sql, [bucket, domainKey.toString()]);
}

/** A place with the hash its row or channel has. */
export type HashedPlace = ArchivePlace & { hash: Buffer };

/** A place that was tried. */
export type ArchiveTry = HashedPlace & {
  state: 'asked' | 'worked' | 'failed' | 'known';
  detail: string | null;
  askedAt: Date;
  endedAt: Date | null;
  /** Not before this time again; null: never. */
  againAt: Date | null;
};

const tryColumns = `url_hash AS hash, url, kind, found_by AS "foundBy", state, detail, asked_at AS "askedAt",
  ended_at AS "endedAt", again_at AS "againAt"`;
// Twenty years of months for each of a few patterns, and what robots.txt names.
const mostTries = 2000;

/** What was tried on a domain, newest first. Index: archive_tries_pkey. */
export async function listArchiveTries(
  db: Queryable,
  key: ArchiveKey,
  most = mostTries,
): Promise<ArchiveTry[]> {
  const result = await db.query<ArchiveTry>(
    `SELECT ${tryColumns} FROM archive_tries WHERE bucket = $1 AND domain_key = $2
      ORDER BY asked_at DESC, url LIMIT $3`,
    [key.bucket, key.domainKey.toString(), most],
  );
  return result.rows;
}

/** Writes down which of these places are asked now, as many as the day leaves of the most; answers those. */
export async function takePlaces<P extends HashedPlace>(
  db: Queryable,
  key: ArchiveKey,
  places: readonly P[],
  mostPerDay: number,
): Promise<P[]> {
  if (places.length === 0) return [];
  const rows = places.map(({ hash, url, kind, foundBy }, ord) => ({
    ord,
    url_hash: `\\x${hash.toString('hex')}`,
    url,
    kind,
    found_by: foundBy,
  }));
  const result = await db.query<{ hash: Buffer }>('SELECT archive_take($1::smallint, $2, $3, $4) AS hash', [
    key.bucket,
    key.domainKey.toString(),
    JSON.stringify(rows),
    mostPerDay,
  ]);
  return places.filter((place) => result.rows.some(({ hash }) => hash.equals(place.hash)));
}

/** How a place that was asked ended. */
export type ArchiveEnd = {
  state: 'worked' | 'failed' | 'known';
  detail: string | null;
  againMs: number | null;
};

/** Writes down how places ended, or that they were known without being asked. */
export async function saveEnds(
  db: Queryable,
  key: ArchiveKey,
  ends: readonly { place: HashedPlace; end: ArchiveEnd }[],
): Promise<void> {
  for (const { place, end } of ends)
    await db.query(
      `INSERT INTO archive_tries AS t (bucket, domain_key, url_hash, url, kind, found_by, state, detail, asked_at, ended_at, again_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now(), now(), now() + $9 * interval '1 millisecond')
       ON CONFLICT (bucket, domain_key, url_hash) DO UPDATE
         SET state = excluded.state, detail = excluded.detail, ended_at = excluded.ended_at, again_at = excluded.again_at`,
      [
        key.bucket,
        key.domainKey.toString(),
        place.hash,
        place.url,
        place.kind,
        place.foundBy,
        end.state,
        end.detail,
        end.againMs,
      ],
    );
}

/** What is known of a domain's archives, for people. */
export type ArchiveFacts = {
  lookedAt: Date;
  nextAt: Date;
  tries: Omit<ArchiveTry, 'hash'>[];
};

const mostShown = 100;

/** What was tried on a domain and when it is looked at next; null: its archives are not looked for. */
export async function loadArchiveFacts(db: Queryable, key: ArchiveKey): Promise<ArchiveFacts | null> {
  const result = await db.query<Pick<ArchiveFacts, 'lookedAt' | 'nextAt'>>(
    `SELECT looked_at AS "lookedAt", next_at AS "nextAt" FROM archive_domains WHERE bucket = $1 AND domain_key = $2`,
    [key.bucket, key.domainKey.toString()],
  );
  const times = result.rows[0];
  if (times === undefined) return null;
  const tries = await listArchiveTries(db, key, mostShown);
  return { ...times, tries: tries.map(({ hash: _hash, ...one }) => one) };
}
