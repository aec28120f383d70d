import type { Queryable } from '../../db/index.ts';
import { decideMultipliers, type FleetGroup, type Multipliers } from './fleet.ts';
import type { Rhythm } from './rhythm.ts';

const settingName = 'polling.multipliers';

/**
 * Shares polls out anew: sums what channels weigh, by interval, and stores one number for each. Channels that fail, keep
 * a fixed interval or are slowed by their publisher take no part. Reads every channel once; any process may do it.
 */
export async function sharePolls(db: Queryable): Promise<Multipliers> {
  const groups = await db.query<FleetGroup>(
    `SELECT c.interval_seconds AS "intervalSeconds", count(*)::integer AS channels, sum(s.weight)::float8 AS weight
       FROM channels c JOIN sources o ON o.id = c.source_id
       JOIN channel_state s ON s.bucket = c.bucket AND s.channel_id = c.id
      WHERE c.enabled AND o.enabled AND o.ingestion_mode <> 'spider' AND s.weight IS NOT NULL AND s.errors_in_row = 0
        AND coalesce(s.floor_seconds, 0) <= c.interval_seconds AND o.settings ->> 'fixedInterval' IS DISTINCT FROM 'true'
      GROUP BY 1`,
  );
  const multipliers = decideMultipliers(groups.rows);
  await db.query('SELECT setting_set($1, $2, $3)', [settingName, JSON.stringify(multipliers), 'schedule']);
  return multipliers;
}

/** How polls are shared now. */
export async function loadMultipliers(db: Queryable): Promise<Multipliers> {
  const result = await db.query<{ value: Multipliers }>('SELECT value FROM settings WHERE name = $1', [
    settingName,
  ]);
  return result.rows[0]?.value ?? {};
}

const lifeMs = 60_000;

/** The shares as a worker sees them: read again every minute. */
export class MultiplierReader {
  readonly #db: Queryable;
  readonly #monotonic: () => number;
  #known: Multipliers = {};
  #until = Number.NEGATIVE_INFINITY;

  constructor(db: Queryable, monotonic: () => number) {
    this.#db = db;
    this.#monotonic = monotonic;
  }

  /** null: channels of this interval share nothing yet. */
  async of(intervalSeconds: number): Promise<number | null> {
    const now = this.#monotonic();
    if (now >= this.#until) {
      this.#until = now + lifeMs;
      this.#known = await loadMultipliers(this.#db);
    }
    return this.#known[String(intervalSeconds)] ?? null;
  }
}

const round = (value: number): number => Number(value.toFixed(3));

/** A rhythm as it is stored: some 300 bytes. */
export function packRhythm(rhythm: Rhythm): object {
  const { atMs, newestMs, count, spanH, hours, days, recent, extraH } = rhythm;
  const numbers = [count, spanH, recent, extraH].map(round);
  return { at: [atMs, newestMs], sums: numbers, hours: hours.map(round), days: days.map(round) };
}

/** A stored rhythm; null when it is none, so that it is learnt anew. */
export function parseRhythm(stored: unknown): Rhythm | null {
  const { at, sums, hours, days } = (stored ?? {}) as Record<string, unknown>;
  if (!isNumbers(at, 2) || !isNumbers(sums, 4) || !isNumbers(hours, 24) || !isNumbers(days, 7)) return null;
  const [atMs, newestMs] = at as [number, number];
  const [count, spanH, recent, extraH] = sums as [number, number, number, number];
  return { atMs, newestMs, count, spanH, hours, days, recent, extraH };
}

function isNumbers(value: unknown, length: number): value is number[] {
  return (
    Array.isArray(value) &&
    value.length === length &&
    value.every((one) => typeof one === 'number' && Number.isFinite(one) && one >= 0)
  );
}
