import { ageLadder, goodStanding, mayMove } from '../../../src/domains/index.ts';
import type { Ladder, Learnt } from '../../../src/frontier/index.ts';
import { putBack } from './lease.ts';
import { width } from './records.ts';
import { type RowState, rowFlag, rowState } from './rows.ts';
import { delayOf, scoreOf, shiftOf, type Tables, topOf, wakeOf } from './rules.ts';
import { none, statuses } from './slots.ts';

/** How a row ended. */
export type RowEnding = {
  row: number;
  state: RowState;
  /** null: never again by itself. */
  dueInMs: number | null;
  tries: number;
  /** A request was answered. */
  fetched: boolean;
  refreshSeconds: number | null;
  /** Dead, but a newer date brings it back. */
  revivable?: boolean;
};

/** What the log of a lease says of its domain. */
export type RequestTotals = {
  requests: number;
  pages: number;
  errors: number;
  documents: number;
  /** When something was last answered well; NaN: nothing was. */
  goodAtMs: number;
};

/** What a settle brings. It ends the lease. */
export type Settlement = {
  domain: number;
  /** All rows of the lease; those without an ending are handed back. */
  rows: readonly number[];
  endings: readonly RowEnding[];
  totals: RequestTotals;
  /** Since the last response's headers, or its failure. */
  idleMs: number;
  learnt: Learnt | undefined;
};

const dayMs = 86_400_000;
const active = statuses.indexOf('active');
const exhausted = statuses.indexOf('exhausted');

/** frontier_settle with p_final: ends rows, then the lease. */
export function settleSlot(tables: Tables, settlement: Settlement, nowMs: number): void {
  const { slots } = tables;
  const { domain, learnt, totals } = settlement;
  const at = domain * width;
  for (const ending of settlement.endings) endRow(tables, domain, ending, nowMs);
  for (const row of settlement.rows) {
    if (!tables.rows.has(row, rowFlag.inFlight)) continue;
    // What was reserved and not asked for is given back.
    if (tables.rows.has(row, rowFlag.budgeted)) slots.budgetLeft[at]! += 1;
    putBack(tables, domain, row);
  }
  if (learnt !== undefined) learn(tables, domain, learnt, nowMs);
  if (!Number.isNaN(totals.goodAtMs)) slots.lastGoodAt[at] = totals.goodAtMs;
  const pauseMs = delayOf(tables, domain) - settlement.idleMs;
  const holdMs = learnt?.hold?.ms ?? Number.NEGATIVE_INFINITY;
  slots.nextAt[at] = nowMs + Math.max(0, pauseMs, holdMs);
  slots.heldByRobots[at] = holdMs > pauseMs && learnt?.hold?.reason === 'robots' ? 1 : 0;
  slots.leased[at] = 0;
  if (learnt?.move !== undefined || !Number.isNaN(slots.restUntil[at]!))
    settleStatus(tables, domain, learnt, nowMs);
  slots.top[at] = topOf(tables, domain, nowMs);
  const isExhausted = hasNoPage(tables, domain);
  if (isExhausted) slots.asleep[at] = 1;
  if (totals.requests > 0 || isExhausted) count(tables, settlement, isExhausted, nowMs);
  slots.wakeAt[at] = wakeOf(tables, domain, true, nowMs);
}

function endRow(tables: Tables, domain: number, ending: RowEnding, nowMs: number): void {
  const at = domain * width;
  const { rows, slots } = tables;
  const { row, state } = ending;
  const isChannel = rows.has(row, rowFlag.channel);
  const isBudgeted = rows.has(row, rowFlag.budgeted);
  rows.state[row] = state;
  const waits = state === rowState.pending || state === rowState.failed;
  // A refresh stood lower; a page that is done is itself again.
  if (!waits && rows.level[row]! <= 10) rows.level[row] = rows.priority[row]!;
  rows.clear(row, rowFlag.ready | rowFlag.inFlight | rowFlag.revivable);
  if (ending.revivable === true) rows.set(row, rowFlag.revivable);
  rows.tries[row] = ending.tries;
  const due = ending.dueInMs === null ? none : nowMs + ending.dueInMs;
  rows.due[row] = due;
  if (ending.refreshSeconds !== null) rows.refreshSeconds[row] = ending.refreshSeconds;
  if (ending.fetched) {
    rows.since[row] = nowMs;
    rows.fetches[row]! += 1;
    rows.set(row, rowFlag.answered);
  }
  if (!Number.isNaN(due)) (state === rowState.fetched ? slots.known : slots.parked).push(domain, due, row);
  if (waits && !Number.isNaN(due) && !isChannel) slots.parkedPages[at]! += 1;
  slots.queued[at]! -= 1;
  if (isChannel) slots.readyChannels[at]! -= 1;
  if (!isBudgeted) return;
  slots.budgeted[at]! -= 1;
  // Only pages that were answered use the budget up.
  if (!ending.fetched) slots.budgetLeft[at]! += 1;
}

function learn({ slots }: Tables, domain: number, learnt: Learnt, nowMs: number): void {
  const at = domain * width;
  // The columns are integers in the database.
  if (learnt.penaltyMs !== undefined) slots.penaltyMs[at] = Math.trunc(learnt.penaltyMs);
  if (learnt.goodRun !== undefined) slots.goodRun[at] = learnt.goodRun;
  if (learnt.robotsDelayMs != null) slots.robotsDelayMs[at] = Math.trunc(learnt.robotsDelayMs);
  if (learnt.sourceDelayMs != null) slots.sourceDelayMs[at] = Math.trunc(learnt.sourceDelayMs);
  if (learnt.ladder !== undefined)
    slots.ladders[domain] = isClean(learnt.ladder) ? null : { ladder: learnt.ladder, atMs: nowMs };
}

const isClean = (ladder: Ladder): boolean =>
  ladder.refusals.length === 0 &&
  ladder.circuitGood === null &&
  ladder.opens.length === 0 &&
  ladder.networkFailures === 0;

/** slot_ladder: where a domain stands now; null in good standing. */
export function ladderOf({ slots }: Tables, domain: number, nowMs: number): Ladder | null {
  const known = slots.ladders[domain] ?? null;
  return known === null ? null : ageLadder(known.ladder ?? goodStanding, nowMs - known.atMs);
}

/** settle_status: a rest begins, a trial ended one, or the rest goes on until the next day. */
function settleStatus({ slots }: Tables, domain: number, learnt: Learnt | undefined, nowMs: number): void {
  const at = domain * width;
  const move = learnt?.move;
  const rests = slots.restUntil[at]! > nowMs;
  if (move !== undefined && mayMove(statuses[slots.status[at]!]!, move.to, 'engine')) {
    slots.status[at] = statuses.indexOf(move.to);
    const counts = move.to === 'blocked' ? slots.blockCount : slots.unreachableCount;
    counts[at]! += 1;
    const times = counts[at]!;
    // The third block is for good, until somebody resets the domain.
    slots.restUntil[at] =
      move.to === 'blocked' && times >= 3
        ? Number.POSITIVE_INFINITY
        : nowMs + move.restMs[Math.min(move.restMs.length, times) - 1]!;
    const until = slots.restUntil[at]!;
    slots.nextAt[at] = until === Number.POSITIVE_INFINITY ? until : Math.min(until, nowMs + dayMs);
    slots.deniedByRobots[at] = move.reason === 'robots_denied' ? 1 : 0;
    slots.heldByRobots[at] = slots.deniedByRobots[at]!;
    slots.asleep[at] = 1;
  } else if (rests && learnt?.trialPassed === true) {
    if (mayMove(statuses[slots.status[at]!]!, 'active', 'engine')) slots.status[at] = active;
    slots.restUntil[at] = none;
    slots.asleep[at] = 0;
  } else if (rests) {
    slots.nextAt[at] = Math.min(slots.restUntil[at]!, nowMs + dayMs);
    slots.heldByRobots[at] = slots.deniedByRobots[at]!;
  }
}

/** Channels do not count: a domain is exhausted when no page of it is pending, failed or in flight. */
function hasNoPage({ slots }: Tables, domain: number): boolean {
  const at = domain * width;
  const top = slots.top[at]!;
  return (
    slots.asleep[at] === 0 &&
    slots.budgeted[at] === 0 &&
    (top === 0 || top > 10) &&
    slots.queued[at] === slots.readyChannels[at] &&
    slots.parkedPages[at] === 0
  );
}

function count(tables: Tables, settlement: Settlement, isExhausted: boolean, nowMs: number): void {
  const { slots } = tables;
  const { domain, totals } = settlement;
  const at = domain * width;
  slots.pagesCrawled[at]! += totals.pages;
  slots.documents[at]! += totals.documents;
  slots.errors[at]! += totals.errors;
  if (totals.requests > 0) slots.lastCrawledAt[at] = nowMs;
  if (!Number.isNaN(totals.goodAtMs)) slots.unreachableCount[at] = 0;
  if (isExhausted) slots.status[at] = exhausted;
  const shift = shiftOf(scoreOf(tables, domain, nowMs));
  if (shift === slots.shift[at]) return;
  slots.shift[at] = shift;
  slots.top[at] = topOf(tables, domain, nowMs);
}

/** domain_rescore, for one domain: the waiting term grows by itself. */
export function rescoreSlot(tables: Tables, domain: number, nowMs: number): boolean {
  const at = domain * width;
  const { slots } = tables;
  const shift = shiftOf(scoreOf(tables, domain, nowMs));
  if (shift === slots.shift[at]) return false;
  slots.shift[at] = shift;
  if (slots.leased[at] === 0) slots.top[at] = topOf(tables, domain, nowMs);
  slots.nextAt[at] = Math.max(slots.nextAt[at]!, nowMs);
  return true;
}
