import { width } from './records.ts';
import { type Rows, rowFlag, rowState } from './rows.ts';
import { none, type Slots } from './slots.ts';

/** Settings of the functions; a budget of null: budgets are off. */
export type FrontierSettings = {
  defaultDelayMs: number;
  leaseMs: number;
  batch: number;
  budget: number | null;
  refresh: boolean;
  refetchAgeMs: number;
};

/** What the functions of the hot path work on. */
export type Tables = { rows: Rows; slots: Slots; settings: FrontierSettings };

const dayMs = 86_400_000;
const mostRefreshesWithoutBudget = 1000;
// Levels are further apart than any two times.
const levelStep = 4e12;

/** The earlier of two times, either of which may be missing: `least` of the database skips NULL. */
export const earlier = (a: number, b: number): number =>
  Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.min(a, b);

/** slot_delay_ms: the largest of the wishes, plus what 429s have added. */
export function delayOf({ slots, settings }: Tables, domain: number): number {
  const at = domain * width;
  return (
    Math.max(
      slots.robotsDelayMs[at]!,
      slots.configuredDelayMs[at]!,
      slots.sourceDelayMs[at]!,
      settings.defaultDelayMs,
    ) + slots.penaltyMs[at]!
  );
}

/** slot_budget_open. */
export function isBudgetOpen({ slots }: Tables, domain: number, nowMs: number): boolean {
  const at = domain * width;
  const left = slots.budgetLeft[at]!;
  return Number.isNaN(left) || left > 0 || slots.budgetUntil[at]! <= nowMs;
}

/** slot_refresh_room: how many more rows may be readied for a refresh. */
export function refreshRoom({ slots, settings }: Tables, domain: number, nowMs: number): number {
  const at = domain * width;
  const { budget } = settings;
  if (budget === null) return mostRefreshesWithoutBudget - slots.budgeted[at]!;
  const left = slots.budgetLeft[at]!;
  const open = Number.isNaN(left) || slots.budgetUntil[at]! <= nowMs;
  return (open ? budget : left) - slots.budgeted[at]!;
}

/** shifted_level. */
export const shiftedLevel = (level: number, shift: number): number =>
  Math.min(10, Math.max(1, level + shift));

/** Key of a ready row: best level first, then longest due. */
export const readyKey = (rows: Rows, row: number): number =>
  (12 - rows.level[row]!) * levelStep + rows.due[row]!;

/** The first ready row of a domain, free or governed by the budget; -1 when there is none. */
export function firstReady({ rows, slots }: Tables, domain: number, budgeted: boolean): number {
  const at = domain * width;
  const heap = budgeted ? slots.paid : slots.free;
  const wanted = rowFlag.ready | (budgeted ? rowFlag.budgeted : 0);
  const mask = rowFlag.ready | rowFlag.budgeted | rowFlag.inFlight;
  while (!heap.isEmpty(domain)) {
    const row = heap.id(domain);
    if (slots.staleReady[at] === 0) return row;
    if ((rows.flags[row]! & mask) === wanted && readyKey(rows, row) === heap.key(domain)) return row;
    heap.drop(domain);
    slots.staleReady[at]! -= 1;
  }
  return -1;
}

/** When the first parked row is due; Infinity when there is none. */
export function firstParkedAt({ rows, slots }: Tables, domain: number): number {
  const at = domain * width;
  const heap = slots.parked;
  while (slots.staleParked[at]! > 0 && !heap.isEmpty(domain)) {
    const row = heap.id(domain);
    const waits = rows.state[row] === rowState.pending || rows.state[row] === rowState.failed;
    if (waits && !rows.has(row, rowFlag.ready) && rows.due[row] === heap.key(domain)) break;
    heap.drop(domain);
    slots.staleParked[at]! -= 1;
  }
  return heap.key(domain);
}

/** When the first known page is due again; Infinity when there is none. */
export function firstKnownAt({ rows, slots }: Tables, domain: number): number {
  const at = domain * width;
  const heap = slots.known;
  while (slots.staleKnown[at]! > 0 && !heap.isEmpty(domain)) {
    const row = heap.id(domain);
    if (rows.state[row] === rowState.fetched && rows.due[row] === heap.key(domain)) break;
    heap.drop(domain);
    slots.staleKnown[at]! -= 1;
  }
  return heap.key(domain);
}

/** slot_top: best level a domain has to offer; 0 for none. */
export function topOf(tables: Tables, domain: number, nowMs: number): number {
  const at = domain * width;
  const { rows, slots } = tables;
  const free = firstReady(tables, domain, false);
  const level = free < 0 ? 0 : rows.level[free]!;
  if (slots.budgeted[at]! <= 0 || !isBudgetOpen(tables, domain, nowMs)) return level;
  const paid = firstReady(tables, domain, true);
  return paid < 0 ? level : Math.max(level, shiftedLevel(rows.level[paid]!, slots.shift[at]!));
}

/** slot_wake: when promotion has something to do for a domain. */
export function wakeOf(tables: Tables, domain: number, refresh: boolean, nowMs: number): number {
  const at = domain * width;
  const { slots } = tables;
  let wake = firstParkedAt(tables, domain);
  if (refresh && refreshRoom(tables, domain, nowMs) > 0) wake = Math.min(wake, firstKnownAt(tables, domain));
  if (slots.budgetLeft[at]! <= 0 && slots.budgetUntil[at]! > nowMs)
    wake = Math.min(wake, slots.budgetUntil[at]!);
  return wake === Number.POSITIVE_INFINITY ? none : wake;
}

/** Makes a row ready and puts it where leases look. */
export function makeReady({ rows, slots }: Tables, domain: number, row: number): void {
  rows.set(row, rowFlag.ready);
  const heap = rows.has(row, rowFlag.budgeted) ? slots.paid : slots.free;
  heap.push(domain, readyKey(rows, row), row);
}

/** domain_score, summed; every domain of the modelled web is without a rank and without stored images. */
export function scoreOf({ slots }: Tables, domain: number, nowMs: number): number {
  const at = domain * width;
  const pages = slots.pagesCrawled[at]!;
  const errors = slots.errors[at]!;
  const crawledAt = slots.lastCrawledAt[at]!;
  const sinceMs = nowMs - (Number.isNaN(crawledAt) ? slots.firstSeenAt[at]! : crawledAt);
  return Math.fround(
    -600 +
      1000 * Math.min(slots.documents[at]! / Math.max(pages, 1), 1) +
      2 * Math.min(slots.queued[at]!, 500) -
      (500 * errors) / Math.max(errors + pages, 1) +
      5 * Math.min(Math.max(sinceMs / dayMs, 0), 60),
  );
}

/** score_shift. */
export const shiftOf = (score: number): number => (score >= 1000 ? 1 : score < 0 ? -1 : 0);
