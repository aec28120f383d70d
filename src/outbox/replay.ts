import type { Database, Queryable } from '../db/index.ts';
import { isCopyOf } from '../documents/index.ts';
import { AppError } from '../errors/index.ts';

/** Which documents a sink is given again. */
export type ReplayWish = { sink: string; sourceId?: number; since?: Date };

/** How far a replay is. */
export type Replay = { sink: string; askedAt: Date; enqueued: number };

/** What became of the wish for a replay. Responses are not stored, so a sink that takes them cannot have them again. */
export type ReplayAnswer = 'asked' | 'under_way' | 'takes_no_documents';

/** Writes down that a sink is to be given its documents again. */
export async function askReplay(db: Queryable, wish: ReplayWish): Promise<ReplayAnswer> {
  const result = await db.query<{ takes: boolean; asked: boolean }>(
    `WITH sink AS (SELECT name, takes = 'documents' AS takes FROM sinks WHERE name = $1),
     asked AS (
       INSERT INTO sink_replays (sink, source_id, since) SELECT name, $2, $3 FROM sink WHERE takes
       ON CONFLICT DO NOTHING RETURNING sink)
     SELECT s.takes, EXISTS (SELECT FROM asked) AS asked FROM sink s`,
    [wish.sink, wish.sourceId ?? null, wish.since ?? null],
  );
  const [row] = result.rows;
  if (row?.takes !== true) return 'takes_no_documents';
  return row.asked ? 'asked' : 'under_way';
}

/** Throws where a replay could not be asked for. */
export function requireAsked(answer: ReplayAnswer, sink: string): void {
  if (answer === 'under_way')
    throw new AppError('replay_under_way', `a replay to ${sink} is under way already`, {
      httpStatus: 409,
      advice: 'See how far it is with: outrider sinks',
    });
  if (answer === 'takes_no_documents')
    throw new AppError(
      'replay_impossible',
      `${sink} takes responses as they come, and those are not stored`,
      {
        httpStatus: 409,
        advice: 'Documents can be replayed to every other sink.',
      },
    );
}

/** The replays under way. */
export async function listReplays(db: Queryable): Promise<Replay[]> {
  const result = await db.query<Replay>(
    `SELECT sink, asked_at AS "askedAt", enqueued::float8 AS enqueued FROM sink_replays ORDER BY asked_at`,
  );
  return result.rows;
}

// What may wait for a sink that is given everything again: enough to keep it busy, too little to slow the crawl.
const mostWaiting = 5000;

/**
 * Puts the next documents of every replay into the outbox, in the order of their key and without refetching: everything
 * comes from what is stored. Answers how many documents were looked at. Index: the key of documents.
 */
export async function runReplays(database: Database, portion: number): Promise<number> {
  let looked = 0;
  for (const { sink } of await listReplays(database.pool))
    looked += await database.withTransaction((tx) => replayPortion(tx, sink, portion));
  return looked;
}

async function replayPortion(tx: Queryable, sink: string, portion: number): Promise<number> {
  const held = await tx.query('SELECT FROM sink_replays WHERE sink = $1 FOR UPDATE SKIP LOCKED', [sink]);
  if (held.rowCount === 0) return 0;
  const waiting = await tx.query<{ full: boolean }>(
    'SELECT count(*) >= $2 AS full FROM (SELECT FROM outbox WHERE sink = $1 LIMIT $2) x',
    [sink, mostWaiting],
  );
  if (waiting.rows[0]!.full) return 0;
  const result = await tx.query<{ looked: number }>(
    `WITH wish AS (SELECT * FROM sink_replays WHERE sink = $1),
     found AS MATERIALIZED (
       SELECT d.bucket, d.domain_key, d.url_hash, d.version,
              d.page_type <> 'stub' AND (w.source_id IS NULL OR d.source_id = w.source_id)
                AND (w.since IS NULL OR d.crawled_at >= w.since)
                -- What its source holds back was never meant for sinks.
                AND NOT (s.settings ->> 'copies' IS NOT DISTINCT FROM 'hold' AND ${isCopyOf('d')}) AS wanted
         FROM wish w CROSS JOIN LATERAL (
           SELECT d.* FROM documents d
            WHERE (d.bucket, d.domain_key, d.url_hash) > (coalesce(w.bucket, -1), coalesce(w.domain_key, 0), coalesce(w.url_hash, ''))
            ORDER BY d.bucket, d.domain_key, d.url_hash LIMIT $2) d
         LEFT JOIN sources s ON s.id = d.source_id
     ), sent AS (
       INSERT INTO outbox (bucket, sink, domain_key, url_hash, version, enqueued_at)
       SELECT bucket, $1, domain_key, url_hash, version, now() FROM found WHERE wanted
       ON CONFLICT DO NOTHING RETURNING bucket
     ), last AS (
       SELECT * FROM found ORDER BY bucket DESC, domain_key DESC, url_hash DESC LIMIT 1
     ), moved AS (
       UPDATE sink_replays r SET bucket = l.bucket, domain_key = l.domain_key, url_hash = l.url_hash,
              enqueued = r.enqueued + (SELECT count(*) FROM sent)
         FROM last l WHERE r.sink = $1)
     SELECT count(*)::integer AS looked FROM found`,
    [sink, portion],
  );
  const { looked } = result.rows[0]!;
  if (looked < portion) await tx.query('DELETE FROM sink_replays WHERE sink = $1', [sink]);
  return looked;
}
