import type { Queryable } from '../db/index.ts';

/** What an operator may switch off while everything runs. All are on unless said otherwise. */
export const switchNames = [
  'fetching',
  'polling',
  'budgets',
  'refresh',
  'adaptive_intervals',
  'discovery',
  'archives',
  'spider',
  'pagination',
  'rendering',
] as const;
export type SwitchName = (typeof switchNames)[number];
export type Switches = Record<SwitchName, boolean>;

/** How every switch stands. */
export async function loadSwitches(db: Queryable): Promise<Switches> {
  const result = await db.query<{ name: string; value: unknown }>(
    `SELECT substr(name, 8) AS name, value FROM settings WHERE name LIKE 'switch.%'`,
  );
  const off = new Set(result.rows.filter((row) => row.value === false).map((row) => row.name));
  return Object.fromEntries(switchNames.map((name) => [name, !off.has(name)])) as Switches;
}

/** Sets a switch and writes down who did it, and why. Every process follows within seconds. */
export async function saveSwitch(
  db: Queryable,
  name: SwitchName,
  isOn: boolean,
  actor: string,
  reason: string | null = null,
): Promise<void> {
  await db.query('SELECT switch_set($1, $2, $3, $4)', [name, isOn, actor, reason]);
}

/** Who changed a switch last, and when; absent while nobody has. */
export type SwitchChange = { name: SwitchName; changedAt: Date; changedBy: string };

/** The switches that were ever set, with who set them. */
export async function loadSwitchChanges(db: Queryable): Promise<SwitchChange[]> {
  const result = await db.query<SwitchChange>(
    `SELECT substr(name, 8) AS name, changed_at AS "changedAt", changed_by AS "changedBy"
       FROM settings WHERE name LIKE 'switch.%' ORDER BY name`,
  );
  return result.rows.filter((row) => switchNames.includes(row.name));
}

/** A switch, how it stands, and who set it last. */
export type SwitchState = {
  name: SwitchName;
  on: boolean;
  changedAt: Date | null;
  changedBy: string | null;
};

/** Every switch with who set it last. */
export async function listSwitches(db: Queryable): Promise<SwitchState[]> {
  const switches = await loadSwitches(db);
  const changes = await loadSwitchChanges(db);
  return switchNames.map((name) => {
    const change = changes.find((one) => one.name === name);
    return {
      name,
      on: switches[name],
      changedAt: change?.changedAt ?? null,
      changedBy: change?.changedBy ?? null,
    };
  });
}

/** Writes down what an operator did, for everything that is not a move of a domain: those have events. */
export async function saveAudit(
  db: Queryable,
  entry: { actor: string; action: string; subject: string; detail: object },
): Promise<void> {
  await db.query('INSERT INTO audit (actor, action, subject, detail) VALUES ($1, $2, $3, $4)', [
    entry.actor,
    entry.action,
    entry.subject,
    JSON.stringify(entry.detail),
  ]);
}

/** Pages a domain's run may fetch as the switches stand; 0: no limit but a domain's own, null: none at all. */
export function decideBudget(switches: Switches, maxPagesPerRun: number): number | null {
  return switches.budgets ? maxPagesPerRun : null;
}

const lifeMs = 2000;

/** The switches as a worker sees them: read again every two seconds. */
export class SwitchReader {
  readonly #db: Queryable;
  readonly #monotonic: () => number;
  #known: Switches | null = null;
  #until = Number.NEGATIVE_INFINITY;

  constructor(db: Queryable, monotonic: () => number) {
    this.#db = db;
    this.#monotonic = monotonic;
  }

  async current(): Promise<Switches> {
    const now = this.#monotonic();
    if (this.#known === null || now >= this.#until) {
      this.#known = await loadSwitches(this.#db);
      this.#until = now + lifeMs;
    }
    return this.#known;
  }
}
