import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ground, lifeOf } from './invariants/index.ts';

/** What is asked first when something was lost: where a row, a poll or a domain stands, and who asked for what. */
const tables = ['url_frontier', 'crawl_log', 'channels', 'channel_state', 'domain_slots', 'domain_events'];

/**
 * Writes what the verdicts were found from beside the logs: the database and the web are gone when somebody looks. Times
 * are wall clock times.
 */
export async function keepEvidence({
  stage,
  log,
  calmSince,
}: Pick<Ground, 'stage' | 'log' | 'calmSince'>): Promise<void> {
  const save = (name: string, rows: readonly unknown[]): void =>
    writeFileSync(join(stage.home, `${name}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const clock = (ms: number): string | null =>
    ms >= 0 && Number.isFinite(ms) ? new Date(performance.timeOrigin + ms).toISOString() : null;
  save(
    'requests',
    log.map((one) => ({
      startedAt: clock(one.startedAtMs),
      headersAt: clock(one.headersSentAtMs),
      life: lifeOf(one),
      url: `http://${one.host}${one.path}`,
      status: one.status,
      conditional: one.conditional,
      aborted: one.aborted,
    })),
  );
  save('losses', [
    { why: 'the last round of polls began', from: calmSince.toISOString() },
    ...stage.ledger.losses.map(({ life, fromMs, toMs, why }) => ({
      life,
      why,
      from: clock(fromMs),
      to: clock(toMs),
    })),
  ]);
  for (const table of tables) {
    const { rows } = await stage.database.pool.query<{ row: unknown }>(
      `SELECT to_json(t) AS row FROM ${table} t`,
    );
    save(
      table,
      rows.map(({ row }) => row),
    );
  }
}
