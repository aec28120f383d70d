import type { Queryable } from '../db/index.ts';
import type { Robots } from '../robots/index.ts';

/** What is known of an origin's robots.txt. `rules` is the last good copy. */
export type RobotsRecord = {
  outcome: 'rules' | 'allow_all' | 'unavailable';
  httpStatus: number | null;
  errorCode: string | null;
  rules: Robots | null;
  /** Time left until it must be read again, by the database's clock; negative when it is stale. */
  freshMs: number;
  /** Age of the last good copy. */
  goodAgeMs: number | null;
};

const goodCopyMs = 30 * 24 * 3_600_000;

/** Whether what is known may be acted on: robots.txt was read, or a copy serves that was read at most thirty days ago. */
export const isRobotsUsable = ({
  outcome,
  goodAgeMs,
}: Pick<RobotsRecord, 'outcome' | 'goodAgeMs'>): boolean =>
  outcome !== 'unavailable' || (goodAgeMs !== null && goodAgeMs < goodCopyMs);

/** The shared copy of an origin's robots.txt. */
export async function loadRobots(
  db: Queryable,
  bucket: number,
  domainKey: bigint,
  origin: string,
): Promise<RobotsRecord | null> {
  const result = await db.query<RobotsRecord>(
    `SELECT outcome, http_status AS "httpStatus", error_code AS "errorCode", rules,
            extract(epoch FROM expires_at - now())::float8 * 1000 AS "freshMs",
            extract(epoch FROM now() - last_good_at)::float8 * 1000 AS "goodAgeMs"
       FROM robots WHERE bucket = $1 AND domain_key = $2 AND origin = $3`,
    [bucket, domainKey.toString(), origin],
  );
  return result.rows[0] ?? null;
}

/** The copies of every origin of a domain; a handful at most. */
export async function loadRobotsOfDomain(
  db: Queryable,
  bucket: number,
  domainKey: bigint,
): Promise<(Pick<RobotsRecord, 'outcome' | 'rules'> & { origin: string; fetchedAt: Date })[]> {
  const result = await db.query<
    Pick<RobotsRecord, 'outcome' | 'rules'> & { origin: string; fetchedAt: Date }
  >(
    `SELECT origin, outcome, rules, fetched_at AS "fetchedAt" FROM robots WHERE bucket = $1 AND domain_key = $2 ORDER BY origin`,
    [bucket, domainKey.toString()],
  );
  return result.rows;
}

/** Stores what reading robots.txt gave. A failure keeps the last good copy and its age. */
export async function saveRobots(
  db: Queryable,
  key: { bucket: number; domainKey: bigint; origin: string },
  record: Pick<RobotsRecord, 'outcome' | 'httpStatus' | 'errorCode' | 'rules'> & { ttlMs: number },
): Promise<void> {
  await db.query(
    `INSERT INTO robots (bucket, domain_key, origin, outcome, http_status, error_code, rules, fetched_at, expires_at, last_good_at)
     VALUES ($1, $2, $3, $4::text, $5, $6, $7, now(), now() + $8 * interval '1 millisecond', CASE WHEN $4::text = 'unavailable' THEN NULL ELSE now() END)
     ON CONFLICT (bucket, domain_key, origin) DO UPDATE SET
       outcome = excluded.outcome, http_status = excluded.http_status, error_code = excluded.error_code,
       rules = CASE WHEN excluded.outcome = 'unavailable' THEN robots.rules ELSE excluded.rules END,
       -- Other rules than before: what they forbade is looked at again, from the first key on.
       revive_after = CASE WHEN excluded.outcome <> 'unavailable' AND robots.rules IS DISTINCT FROM excluded.rules
                           AND robots.last_good_at IS NOT NULL THEN ''::bytea ELSE robots.revive_after END,
       fetched_at = excluded.fetched_at, expires_at = excluded.expires_at,
       last_good_at = coalesce(excluded.last_good_at, robots.last_good_at)`,
    [
      key.bucket,
      key.domainKey.toString(),
      key.origin,
      record.outcome,
      record.httpStatus,
      record.errorCode,
      record.rules === null ? null : JSON.stringify(record.rules),
      record.ttlMs,
    ],
  );
}
