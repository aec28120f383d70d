import type { Queryable } from '../../src/db/index.ts';

// What the engine remembers by time. Logs and counters stay where they are: nothing decides by them.
const tables = ['url_frontier', 'domain_slots', 'domains', 'domain_runs', 'robots', 'channel_state'];

/**
 * Moves time forward by setting every remembered time back. Only while no worker runs: a worker keeps low-water marks
 * and robots.txt in memory, by its own clock.
 */
export async function passTime(db: Queryable, ms: number): Promise<void> {
  for (const table of tables) {
    const columns = await db.query<{ name: string; type: string }>(
      `SELECT attname AS name, atttypid::regtype::text AS type FROM pg_attribute
        WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
          AND atttypid::regtype::text IN ('timestamp with time zone', 'timestamp with time zone[]')`,
      [table],
    );
    const moves = columns.rows.map(({ name, type }) =>
      type.endsWith('[]')
        ? `${name} = (SELECT array_agg(at - ms($1)) FROM unnest(${name}) at)`
        : `${name} = ${name} - ms($1)`,
    );
    await db.query(`UPDATE ${table} SET ${moves.join(', ')}`, [ms]);
  }
}
