import { mayMove } from '../../../src/domains/index.ts';
import { width } from './records.ts';
import { rowFlag } from './rows.ts';
import { delayOf, firstReady, readyKey, type Tables, topOf } from './rules.ts';
import { none, statuses } from './slots.ts';

/** A domain that was handed out. */
export type SlotLease = {
  domain: number;
  /** Since when it was due. */
  dueSinceMs: number;
  delayMs: number;
  trial: 'channel' | 'robots' | null;
  /** The level it was handed out for, and its rows, longest due first. */
  level: number;
  rows: number[];
};

const dayMs = 86_400_000;
const nothing: number[] = [];
const exhausted = statuses.indexOf('exhausted');

/** The part of frontier_lease that concerns one due slot; null: it had nothing to hand out after all. */
export function leaseSlot(tables: Tables, domain: number, nowMs: number): SlotLease | null {
  const at = domain * width;
  const { slots, settings } = tables;
  const dueSinceMs = slots.nextAt[at]!;
  if (slots.asleep[at] === 1) wake(tables, domain, nowMs);
  const delayMs = delayOf(tables, domain);
  const rests = slots.restUntil[at]! > nowMs;
  const trial = !rests ? null : slots.heldByRobots[at] === 1 ? 'robots' : 'channel';
  const level = slots.top[at]!;
  const left = slots.budgetLeft[at]!;
  const isNewRun = Number.isNaN(left) || slots.budgetUntil[at]! <= nowMs;
  const budget =
    slots.budgeted[at] === 0 || level > 10
      ? 0
      : settings.budget === null
        ? settings.batch
        : isNewRun
          ? settings.budget
          : Math.max(0, left);
  const rows = pick(tables, domain, batchOf(tables, domain, { trial, delayMs, level }), budget);
  if (rows.length === 0) {
    slots.nextAt[at] =
      trial === null ? Math.max(dueSinceMs, nowMs) : Math.min(slots.restUntil[at]!, nowMs + dayMs);
    if (trial === null) slots.top[at] = topOf(tables, domain, nowMs);
    return null;
  }
  slots.leased[at] = 1;
  slots.nextAt[at] = nowMs + settings.leaseMs + delayMs;
  if (trial === null) slots.heldByRobots[at] = 0;
  let reserved = 0;
  for (const row of rows) if (tables.rows.has(row, rowFlag.budgeted)) reserved += 1;
  if (reserved > 0 && settings.budget !== null) {
    slots.budgetLeft[at] = (isNewRun ? settings.budget : left) - reserved;
    if (isNewRun) slots.budgetUntil[at] = nowMs + dayMs;
  }
  return { domain, dueSinceMs, delayMs, trial, level, rows };
}

/** lease_wake: a domain that is leased is active, unless it rests or has only polls to do. */
function wake({ slots }: Tables, domain: number, nowMs: number): void {
  const at = domain * width;
  if (slots.restUntil[at]! > nowMs) return;
  const status = slots.status[at]!;
  if (status === exhausted && slots.top[at]! > 10) return;
  if (mayMove(statuses[status]!, 'active', 'engine')) slots.status[at] = statuses.indexOf('active');
  slots.asleep[at] = 0;
  slots.restUntil[at] = none;
  slots.ladders[domain] = null;
}

function batchOf(
  { slots, settings }: Tables,
  domain: number,
  at: { trial: SlotLease['trial']; delayMs: number; level: number },
): number {
  if (at.trial === 'channel') return at.level >= 11 ? 1 : 0;
  if (at.trial !== null || slots.ladders[domain]?.ladder.circuitGood != null) return 1;
  return Math.min(settings.batch, Math.max(1, Math.floor(20_000 / Math.max(at.delayMs, 100))));
}

/** Up to a batch of rows of the slot's level, longest due first; they are in flight from now on. */
function pick(tables: Tables, domain: number, batch: number, budget: number): number[] {
  const at = domain * width;
  const { rows, slots } = tables;
  const level = slots.top[at]!;
  const free = takeReady(tables, domain, { budgeted: false, most: batch, from: level, to: level });
  const most = Math.min(batch, budget);
  if (most === 0) return free;
  const shift = slots.shift[at]!;
  // The levels that the domain's score moves to this one: two of them at either end.
  const from = level === 1 ? Math.min(1, 1 - shift) : level - shift;
  const to = level === 10 ? Math.max(10, 10 - shift) : level - shift;
  const paid = takeReady(tables, domain, { budgeted: true, most, from, to });
  if (paid.length === 0) return free;
  const all = [...free, ...paid].sort((a, b) => rows.due[a]! - rows.due[b]!);
  for (const row of all.splice(batch)) putBack(tables, domain, row);
  return all;
}

function takeReady(
  tables: Tables,
  domain: number,
  wanted: { budgeted: boolean; most: number; from: number; to: number },
): number[] {
  const { rows, slots } = tables;
  const heap = wanted.budgeted ? slots.paid : slots.free;
  // Most take one: an array that is pushed into has room for seventeen.
  let taken = nothing;
  let passed: number[] | null = null;
  while (taken.length < wanted.most) {
    const row = firstReady(tables, domain, wanted.budgeted);
    if (row < 0 || rows.level[row]! < wanted.from) break;
    heap.drop(domain);
    rows.set(row, rowFlag.inFlight);
    if (rows.level[row]! <= wanted.to) {
      if (taken.length === 0) taken = [row];
      else taken.push(row);
    } else if (passed === null) passed = [row];
    else passed.push(row);
  }
  for (const row of passed ?? []) putBack(tables, domain, row);
  return taken;
}

/** A row in flight that nobody asked for after all. */
export function putBack({ rows, slots }: Tables, domain: number, row: number): void {
  rows.clear(row, rowFlag.inFlight);
  const heap = rows.has(row, rowFlag.budgeted) ? slots.paid : slots.free;
  heap.push(domain, readyKey(rows, row), row);
}
