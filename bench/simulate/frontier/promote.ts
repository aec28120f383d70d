import { width } from './records.ts';
import { rowFlag, rowState } from './rows.ts';
import { firstKnownAt, firstParkedAt, makeReady, refreshRoom, type Tables, topOf, wakeOf } from './rules.ts';

const rowsPerSlot = 1000;

/** frontier_promote, for one slot whose wake_at has come. Answers how many rows it readied. */
export function promoteSlot(tables: Tables, domain: number, nowMs: number): number {
  const at = domain * width;
  const { slots, settings } = tables;
  const readied = readyParked(tables, domain, nowMs) + readyKnown(tables, domain, nowMs);
  const before = slots.top[at]!;
  const best = topOf(tables, domain, nowMs);
  // A leased slot keeps offering what it offered: the settle that ends the lease reads its rows anew.
  const top = slots.leased[at] === 1 ? Math.max(before, best) : best;
  slots.top[at] = top;
  if (top !== before) slots.nextAt[at] = Math.max(slots.nextAt[at]!, nowMs);
  slots.wakeAt[at] = wakeOf(tables, domain, settings.refresh, nowMs);
  return readied;
}

function readyParked(tables: Tables, domain: number, nowMs: number): number {
  const at = domain * width;
  const { rows, slots } = tables;
  const heap = slots.parked;
  let count = 0;
  while (count < rowsPerSlot && firstParkedAt(tables, domain) <= nowMs) {
    const row = heap.id(domain);
    heap.drop(domain);
    makeReady(tables, domain, row);
    slots.queued[at]! += 1;
    if (rows.has(row, rowFlag.budgeted)) slots.budgeted[at]! += 1;
    if (rows.has(row, rowFlag.channel)) slots.readyChannels[at]! += 1;
    else slots.parkedPages[at]! -= 1;
    count += 1;
  }
  return count;
}

function readyKnown(tables: Tables, domain: number, nowMs: number): number {
  const at = domain * width;
  const { rows, slots, settings } = tables;
  if (!settings.refresh) return 0;
  const room = Math.min(rowsPerSlot, refreshRoom(tables, domain, nowMs));
  const heap = slots.known;
  let count = 0;
  while (count < room && firstKnownAt(tables, domain) <= nowMs) {
    const row = heap.id(domain);
    heap.drop(domain);
    rows.state[row] = rowState.pending;
    rows.set(row, rowFlag.budgeted);
    // News goes before what is known: a refresh stands two levels below its page.
    rows.level[row] = Math.max(1, rows.priority[row]! - 2);
    makeReady(tables, domain, row);
    count += 1;
  }
  slots.queued[at]! += count;
  slots.budgeted[at]! += count;
  return count;
}
