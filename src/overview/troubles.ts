import type { Queryable } from '../db/index.ts';

/** A channel whose polls fail. */
export type FailingChannel = {
  id: number;
  url: string;
  errorKind: string | null;
  errorsInRow: number;
  failingSince: Date | null;
};

/** A source that is followed by feeds and has none: what is told of it, and how many there are. */
export type EmptySource = { slug: string; name: string; all: number };

/** A domain that is not fetched although rows wait for it. */
export type HeldDomain = {
  name: string;
  status: 'blocked' | 'unreachable';
  reason: string | null;
  since: Date;
  queued: number;
  /** How many there are like it, of those that were looked at. */
  all: number;
};

/** A domain that refused us so often that it is left alone for a while. */
export type OpenCircuit = { name: string; queued: number; nextAt: Date | null; all: number };

// As many as are told one by one, and one more to see that there are more.
const told = 4;
const mostLooked = 500;
const manyQueued = 100;
// The newest, which somebody has just added or imported; those before were told when they were.
const mostSources = 10_000;

/** The channels that failed most often in a row. Index: channel_state_trouble. */
export async function loadFailingChannels(db: Queryable): Promise<FailingChannel[]> {
  const result = await db.query<FailingChannel>(
    `SELECT c.id, c.url, s.error_kind AS "errorKind", s.errors_in_row AS "errorsInRow", s.failing_since AS "failingSince"
       FROM channel_state s JOIN channels c ON c.id = s.channel_id
      WHERE s.errors_in_row > 0 AND c.enabled AND c.parent_id IS NULL
      ORDER BY s.errors_in_row DESC, s.channel_id LIMIT ${told}`,
  );
  return result.rows;
}

/** Sources without a channel that nobody looks for one for, the newest first. Indexes: channels_source, discoveries_open. */
export async function loadEmptySources(db: Queryable): Promise<EmptySource[]> {
  const result = await db.query<EmptySource>(
    `SELECT s.slug, s.name, (count(*) OVER ())::integer AS all
       FROM (SELECT id, slug, name, enabled, ingestion_mode FROM sources ORDER BY id DESC LIMIT ${mostSources}) s
      WHERE s.enabled AND s.ingestion_mode = 'feed'
        AND NOT EXISTS (SELECT FROM channels c WHERE c.source_id = s.id)
        AND NOT EXISTS (SELECT FROM discoveries d WHERE d.source_id = s.id AND d.finished_at IS NULL)
      ORDER BY s.id DESC LIMIT ${told}`,
  );
  return result.rows;
}

// Of a domain d: somebody follows it. Then a single row that waits is a publisher who brings nothing, be it the feed itself;
// of the thousands that links lead to, a few rows matter to nobody. Index: sources_url_prefix; channels are read once, 6 ms
// for 20,000.
const startsOf = ['https://', 'http://', 'https://www.', 'http://www.'];
const isFollowed = `(EXISTS (SELECT FROM channels c WHERE c.enabled AND c.bucket = d.bucket AND c.domain_key = d.domain_key)
        OR ${startsOf
          .map(
            // What lies between "name/" and "name0" begins with the name and a slash.
            (start) => `EXISTS (SELECT FROM sources f WHERE f.enabled
             AND f.url ~>=~ ('${start}' || d.name || '/') AND f.url ~<~ ('${start}' || d.name || '0'))`,
          )
          .join(' OR ')})`;

/**
 * Domains that rest with many rows waiting, or with any of somebody who is followed, the most first; looks at five hundred
 * of each status. Index: domains_status, then a slot each by its key.
 */
export async function loadHeldDomains(db: Queryable): Promise<HeldDomain[]> {
  const looked = (status: HeldDomain['status']): string =>
    `(SELECT bucket, domain_key, name, status, status_reason, status_since FROM domains WHERE status = '${status}'
       ORDER BY name COLLATE "C", domain_key LIMIT ${mostLooked})`;
  const result = await db.query<HeldDomain>(
    `SELECT d.name, d.status, d.status_reason AS reason, d.status_since AS since, s.queued, (count(*) OVER ())::integer AS all
       FROM (${looked('blocked')} UNION ALL ${looked('unreachable')}) d
       JOIN domain_slots s ON s.bucket = d.bucket AND s.domain_key = d.domain_key
      WHERE s.queued >= ${manyQueued} OR (s.queued > 0 AND ${isFollowed})
      ORDER BY s.queued DESC, d.name LIMIT ${told}`,
  );
  return result.rows;
}

/** Circuits that are open on domains that do not rest anyway. Index: domain_slots_circuit. */
export async function loadOpenCircuits(db: Queryable): Promise<OpenCircuit[]> {
  const result = await db.query<OpenCircuit>(
    `SELECT d.name, s.queued, nullif(s.next_at, 'infinity') AS "nextAt", s.all
       FROM (SELECT x.*, (count(*) OVER ())::integer AS all
               FROM (SELECT bucket, domain_key, queued, next_at FROM domain_slots
                      WHERE circuit_good IS NOT NULL AND (rest_until IS NULL OR rest_until <= now())
                      LIMIT ${mostLooked}) x
              ORDER BY x.queued DESC, x.domain_key LIMIT ${told}) s
       JOIN domains d ON d.bucket = s.bucket AND d.domain_key = s.domain_key
      ORDER BY s.queued DESC, d.name`,
  );
  return result.rows;
}

/** A sink that somebody should look at. */
export type SinkTrouble = {
  name: string;
  enabled: boolean;
  failingSince: Date | null;
  error: string | null;
  /** What waits for it, at least; and since when the eldest that was looked at does. */
  waiting: number;
  waitingSince: Date | null;
  deadLetters: number;
};

const mostRows = 20_000;

/** Sinks with what waits and what they refused, counted over so many rows of the outbox and no more. */
export async function loadSinkTroubles(db: Queryable): Promise<SinkTrouble[]> {
  const result = await db.query<SinkTrouble>(
    `SELECT s.name, s.enabled, t.failing_since AS "failingSince", left(t.error, 300) AS error,
            coalesce(o.waiting, 0)::float8 AS waiting, o.since AS "waitingSince", coalesce(l.letters, 0)::float8 AS "deadLetters"
       FROM sinks s LEFT JOIN sink_states t ON t.sink = s.name
       LEFT JOIN (SELECT sink, count(*) AS waiting, min(enqueued_at) AS since FROM (
                    (SELECT sink, enqueued_at FROM outbox LIMIT ${mostRows})
                    UNION ALL (SELECT sink, enqueued_at FROM outbox_responses LIMIT ${mostRows})) w GROUP BY sink) o ON o.sink = s.name
       LEFT JOIN (SELECT sink, count(*) AS letters FROM (SELECT sink FROM dead_letters LIMIT ${mostRows}) w GROUP BY sink) l
         ON l.sink = s.name
      ORDER BY s.created_at, s.name LIMIT 100`,
  );
  return result.rows;
}
