import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

// Every statement of the hot path names its bucket, so that the tables can be distributed by it. The three exceptions
// are the probes of single mode, which bucket mode replaces.
const hotTables =
  'url_frontier|domain_slots|domains|domain_events|robots|documents|document_versions|raw_pages|outbox|outbox_responses|response_marks|channel_state|url_sightings|probe_results|foreign_hosts|crawl_log|counter_deltas|images|image_sightings';
const exceptions = [
  /WHERE s\.pool = p_pool AND s\.top = v_level AND s\.next_at <= v_now\s+AND s\.next_at >= coalesce/, // lease probe
  /FROM domain_slots WHERE wake_at <= v_now\s+ORDER BY wake_at LIMIT p_slots/, // promotion probe
  /SELECT s\.next_at FROM domain_slots s WHERE s\.pool = p_pool AND s\.top = l\.level/, // wake query
];
// Asked once per source and day, by its own index, never on the way of a settle.
const counts = [/SELECT count\(\*\) FROM foreign_hosts h WHERE h\.source_id/];

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

it('names the bucket wherever a hot table is read or written', async () => {
  const functions = await test.pool.query<{ name: string; body: string }>(
    `SELECT proname AS name, prosrc AS body FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        AND (proname LIKE 'frontier\\_%' OR proname LIKE 'settle\\_%' OR proname LIKE 'submit\\_%' OR proname LIKE 'image%') AND proname <> 'frontier_set_lease_mode'`,
  );
  expect(functions.rows.length).toBeGreaterThan(8);
  const uses = new RegExp(
    `\\b(FROM|JOIN|UPDATE|INTO)\\s+(${hotTables})\\b(?:\\s+(?:AS\\s+)?(?!SET\\b|WHERE\\b|ORDER\\b)([a-z]\\w*))?`,
    'g',
  );
  const offenders: string[] = [];
  for (const { name, body } of functions.rows) {
    const code = body.replace(/--[^\n]*/g, '');
    for (const statement of code.split(/;\s*\n/)) {
      if ([...exceptions, ...counts].some((known) => known.test(statement))) continue;
      for (const [use, verb, table, alias] of statement.matchAll(uses)) {
        const who = alias === undefined ? '' : `${alias}\\.`;
        const named =
          verb === 'INTO'
            ? new RegExp(`INTO ${table}\\b[^(]*\\(\\s*(at, )?bucket\\b`)
            : new RegExp(
                `${who}bucket\\s*=|=\\s*${who}bucket\\b|\\(${who}bucket, ${who}domain_key\\) IN|${who}ctid = i\\.row_at`,
              );
        if (!named.test(statement)) offenders.push(`${name}: ${use} … ${statement.trim().slice(0, 120)}`);
      }
    }
  }
  expect(offenders).toEqual([]);
});
