import { type Database, type OpenOptions, openDatabase } from '../../src/db/index.ts';

// A process of its own that opens a database and does what its parent says; the parent kills it at will.

export type DriverCall =
  | { call: 'open'; options: OpenOptions }
  | { call: 'query'; sql: string }
  | { call: 'write'; from: number; step: number }
  | { call: 'close' };
export type DriverAnswer = {
  rows?: unknown[];
  error?: { code: unknown; message: string; advice: unknown };
  wrote?: number;
};

let db: Database | undefined;

function answer(value: DriverAnswer): void {
  process.send?.(
    JSON.parse(JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? Number(item) : item))),
  );
}

async function run(message: DriverCall): Promise<DriverAnswer> {
  if (message.call === 'open') {
    db = await openDatabase({ ...message.options, migrate: false });
    return { rows: [] };
  }
  if (!db) throw new Error('not open');
  if (message.call === 'query') return { rows: (await db.pool.query(message.sql)).rows };
  if (message.call === 'write') {
    void writeForEver(db, message);
    return { rows: [] };
  }
  await db.close();
  setImmediate(() => process.disconnect());
  return { rows: [] };
}

// Each number is reported only after its transaction is committed: what was reported must never be missing.
async function writeForEver(
  database: Database,
  { from, step }: { from: number; step: number },
): Promise<void> {
  for (let n = from; process.connected; n += step) {
    try {
      await database.withTransaction(async (tx) => {
        await tx.query('INSERT INTO written (n) VALUES ($1) ON CONFLICT DO NOTHING', [n]);
        await tx.query('UPDATE total SET n = n + 1');
      });
      answer({ wrote: n });
    } catch {
      n -= step; // the server went away, or both writers met: the same number again
    }
  }
}

process.on('message', (message: DriverCall) => {
  run(message).then(answer, (error: Error & { code?: unknown; advice?: unknown }) =>
    answer({ error: { code: error.code, message: error.message, advice: error.advice } }),
  );
});
