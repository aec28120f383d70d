import type { Queryable } from '../db/index.ts';
import { type HostRules, identifyUrl } from '../url/index.ts';
import { hexBytes } from './rows.ts';

/** What re-keying came to: portions looked at, rows that have another key, and rows that became one with another. */
export type RekeyReport = { portions: number; moved: number; merged: number };

export type RekeyOptions = {
  /** Rows of one portion: its slot is locked while those among them that have another key are written. */
  rowsAtOnce?: number;
  skewMs?: number;
};

const domainsAtOnce = 20;
// Measured with three in four of the thousand: 0.13 s where they got another key, 0.34 s where they joined another row.
// Whoever waits for the slot gives up after 3 s.
const usualRows = 1000;
// By then every process has read the new rules, and what it had named by the old ones is submitted.
const settleMs = 30_000;

type Task = {
  bucket: number;
  domainKey: bigint;
  name: string;
  rules: HostRules;
  /** The rules that held before: what waits has its key by one of them. */
  was: HostRules[];
  after: Buffer;
};

/**
 * Goes on with giving waiting rows their keys by the rules of their domain where those changed, a portion of each domain.
 * How far it is stands in the database with what was done, so a crash costs nothing, and of several schedulers one does it.
 */
export async function rekeyDomains(db: Queryable, options: RekeyOptions = {}): Promise<RekeyReport> {
  const report: RekeyReport = { portions: 0, moved: 0, merged: 0 };
  for (const task of await loadTasks(db, options.skewMs ?? 0)) {
    const done = await rekeyPortion(db, task, options);
    if (done.outcome === 'stale') continue;
    report.portions += 1;
    report.moved += done.moved;
    report.merged += done.merged;
  }
  return report;
}

/** Domains whose turn it is. The table has a row for as long as something is to be done, and is read whole. */
async function loadTasks(db: Queryable, skewMs: number): Promise<Task[]> {
  const result = await db.query<Task>(
    `SELECT r.bucket, r.domain_key AS "domainKey", d.name, d.host_rules AS rules, r.was, r.after_hash AS after
       FROM domain_rekeys r JOIN domains d ON d.bucket = r.bucket AND d.domain_key = r.domain_key
      WHERE r.due_at <= now() + $1 * interval '1 millisecond' ORDER BY r.due_at LIMIT ${domainsAtOnce}`,
    [skewMs],
  );
  return result.rows;
}

type Row = { hash: Buffer; url: string | null };
type Move = { from: Buffer; to: Buffer; url: string };
type Done = { outcome: 'more' | 'again' | 'done' | 'stale'; moved: number; merged: number };

async function rekeyPortion(db: Queryable, task: Task, options: RekeyOptions): Promise<Done> {
  const most = options.rowsAtOnce ?? usualRows;
  const rows = await loadPortion(db, task, most);
  const moves = rows.flatMap((row) => moveOf(task, row) ?? []);
  const seats = await loadSeats(db, task, moves);
  const last = rows.length < most ? null : rows.at(-1)!.hash;
  const result = await db.query<Done>(
    `SELECT outcome, moved, merged
       FROM frontier_rekey($1::smallint, $2, $3, $4, $5, $6, $7 * interval '1 millisecond', $8 * interval '1 millisecond')`,
    [
      task.bucket,
      task.domainKey.toString(),
      JSON.stringify(task.rules),
      task.after,
      last,
      JSON.stringify(
        moves.map(({ from, to, url }) => ({
          url_hash: hexBytes(from),
          to_hash: hexBytes(to),
          url,
          seat: seats.get(to.toString('hex')),
        })),
      ),
      settleMs,
      options.skewMs ?? 0,
    ],
  );
  return result.rows[0]!;
}

/** The next rows of a domain in the order of their keys, with the address of those that may get another. Index: url_frontier_pkey. */
async function loadPortion(db: Queryable, task: Task, most: number): Promise<Row[]> {
  const result = await db.query<Row>(
    `SELECT f.url_hash AS hash, CASE WHEN frontier_may_rekey(f) THEN f.url END AS url FROM url_frontier f
      WHERE f.bucket = $1 AND f.domain_key = $2 AND f.url_hash > $3 ORDER BY f.url_hash LIMIT $4`,
    [task.bucket, task.domainKey.toString(), task.after, most],
  );
  return result.rows;
}

/** Where a row belongs by the rules of today; null: where it is, or it never had the key of its address. */
function moveOf(task: Task, { hash, url }: Row): Move | null {
  if (url === null) return null;
  const to = hashBy(task, url, task.rules);
  if (to === null || to.equals(hash)) return null;
  // A front page may be asked at another address than the one it is known by; rules say nothing about that.
  const isKeyed = task.was.some((rules) => hashBy(task, url, rules)?.equals(hash));
  return isKeyed ? { from: hash, to, url } : null;
}

function hashBy(task: Task, url: string, rules: HostRules): Buffer | null {
  const identified = identifyUrl(url, { rules: (domain) => (domain === task.name ? rules : undefined) });
  return identified.outcome === 'ok' && identified.identity.domainKey === task.domainKey
    ? identified.identity.hash
    : null;
}

/**
 * Addresses of the rows that have keys already to which others move. One that waits itself to move elsewhere is left out:
 * who comes for its place waits for the next pass. Index: url_frontier_pkey.
 */
async function loadSeats(db: Queryable, task: Task, moves: readonly Move[]): Promise<Map<string, string>> {
  if (moves.length === 0) return new Map();
  const result = await db.query<{ hash: Buffer; url: string; waits: boolean }>(
    `SELECT f.url_hash AS hash, f.url, frontier_may_rekey(f) AS waits FROM url_frontier f
      WHERE f.bucket = $1 AND f.domain_key = $2 AND f.url_hash = ANY ($3)`,
    [task.bucket, task.domainKey.toString(), moves.map(({ to }) => to)],
  );
  const staying = result.rows.filter(
    ({ hash, url, waits }) => !waits || moveOf(task, { hash, url }) === null,
  );
  return new Map(staying.map(({ hash, url }) => [hash.toString('hex'), url]));
}

/** How far the re-keying of a domain is; null: nothing is to be done. */
export type RekeyState = { changedAt: Date; dueAt: Date; moved: number; merged: number };
