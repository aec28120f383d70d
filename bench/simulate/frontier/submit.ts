import { width } from './records.ts';
import { rowFlag, rowState } from './rows.ts';
import { earlier, isBudgetOpen, makeReady, readyKey, shiftedLevel, type Tables } from './rules.ts';

/** A URL that a producer of the same domain names. */
export type Submitted = {
  domain: number;
  /** Its row if it is known, else -1. */
  row: number;
  level: number;
  priority: number;
  channel: boolean;
  /** Of the spider or an archive. */
  budgeted: boolean;
  /** When it is due; NaN: now. */
  dueMs: number;
  /** What the producer says; NaN: nothing. */
  modifiedMs: number;
  /** Its place in the call. */
  nth: number;
};

export type SubmitAnswer = 'inserted' | 'raised' | 'refreshed' | 'duplicate';

/** frontier_submit, for one item. Answers its row and what became of it. */
export function submitRow(
  tables: Tables,
  item: Submitted,
  nowMs: number,
): { row: number; answer: SubmitAnswer } {
  if (item.row < 0) return { row: insert(tables, item, nowMs), answer: 'inserted' };
  const action = actionOf(tables, item, nowMs);
  if (action === null) return { row: item.row, answer: 'duplicate' };
  touch(tables, item, nowMs);
  const { rows } = tables;
  const isAgain = rows.has(item.row, rowFlag.answered) && rows.state[item.row] === rowState.pending;
  return { row: item.row, answer: isAgain ? 'refreshed' : 'raised' };
}

function insert(tables: Tables, item: Submitted, nowMs: number): number {
  const { rows, slots } = tables;
  const { domain } = item;
  const at = domain * width;
  const row = rows.add();
  const due = Number.isNaN(item.dueMs) ? nowMs : item.dueMs;
  rows.due[row] = due;
  rows.since[row] = nowMs;
  rows.level[row] = item.level;
  rows.priority[row] = item.priority;
  rows.state[row] = rowState.pending;
  rows.flags[row] = (item.budgeted ? rowFlag.budgeted : 0) | (item.channel ? rowFlag.channel : 0);
  const isReady = due <= nowMs;
  if (isReady) {
    makeReady(tables, domain, row);
    slots.queued[at]! += 1;
    if (item.budgeted) slots.budgeted[at]! += 1;
    if (item.channel) slots.readyChannels[at]! += 1;
  } else {
    slots.parked.push(domain, due, row);
    if (!item.channel) slots.parkedPages[at]! += 1;
  }
  announce(tables, item, { row, isReady, due }, nowMs);
  return row;
}

/** submit_action, for items of the producer's own domain and of no execution. */
function actionOf({ rows, settings }: Tables, item: Submitted, nowMs: number): 'raise' | 'refresh' | null {
  const { row, modifiedMs } = item;
  const state = rows.state[row];
  const since = rows.since[row]!;
  const isAnswered = rows.has(row, rowFlag.answered);
  const isNewer = Math.min(modifiedMs, nowMs) > since && since <= nowMs - settings.refetchAgeMs;
  const due = Number.isNaN(item.dueMs) ? nowMs : item.dueMs;
  const isWaiting = state === rowState.pending || state === rowState.failed;
  // A budget holds what only links led to, whatever its level.
  if (isWaiting && !isAnswered && !item.budgeted && rows.has(row, rowFlag.budgeted)) return 'raise';
  if (state === rowState.pending && rows.tries[row] === 0 && !isAnswered) {
    const isEarlier = !rows.has(row, rowFlag.ready) && due < rows.due[row]!;
    return item.level > rows.level[row]! || isEarlier ? 'raise' : null;
  }
  if (state === rowState.failed) return item.level > rows.level[row]! ? 'raise' : null;
  if (state === rowState.fetched) return isNewer ? 'refresh' : null;
  if (state === rowState.dead) return isNewer && rows.has(row, rowFlag.revivable) ? 'refresh' : null;
  return null;
}

function touch(tables: Tables, item: Submitted, nowMs: number): void {
  const { rows, slots } = tables;
  const { row, domain } = item;
  const at = domain * width;
  const was = rows.state[row];
  const wasReady = rows.has(row, rowFlag.ready);
  const wasBudgeted = wasReady && rows.has(row, rowFlag.budgeted);
  const wasParked = !Number.isNaN(rows.due[row]!) && !wasReady;
  const isBack = was === rowState.fetched || was === rowState.dead;
  const keyBefore = readyKey(rows, row);
  const dueBefore = rows.due[row]!;
  const wanted = Number.isNaN(item.dueMs) ? nowMs : item.dueMs;
  rows.level[row] = Math.max(rows.level[row]!, item.level);
  rows.priority[row] = Math.max(rows.priority[row]!, item.priority);
  const budgeted = isBack ? item.budgeted : item.budgeted && rows.has(row, rowFlag.budgeted);
  rows.clear(row, rowFlag.budgeted);
  if (budgeted) rows.set(row, rowFlag.budgeted);
  let isReady = wasReady;
  if (isBack) {
    rows.state[row] = rowState.pending;
    rows.tries[row] = 0;
    rows.due[row] = nowMs;
    isReady = true;
  } else if (was === rowState.pending) {
    rows.due[row] = Math.min(rows.due[row]!, wanted);
    isReady = wasReady || wanted <= nowMs;
  }
  if (!wasReady && !isBack && isReady) slots.parkedPages[at]! -= 1;
  if (wasReady) {
    const isSame = readyKey(rows, row) === keyBefore && wasBudgeted === budgeted;
    if (!isSame && !rows.has(row, rowFlag.inFlight)) {
      slots.staleReady[at]! += 1;
      makeReady(tables, domain, row);
    }
  } else if (isReady) {
    if (wasParked) (was === rowState.fetched ? slots.staleKnown : slots.staleParked)[at]! += 1;
    makeReady(tables, domain, row);
  } else if (rows.due[row] !== dueBefore) {
    slots.staleParked[at]! += 1;
    slots.parked.push(domain, rows.due[row]!, row);
  }
  if (isReady && !wasReady) slots.queued[at]! += 1;
  slots.budgeted[at]! += Number(isReady && budgeted) - Number(wasBudgeted);
  announce(tables, item, { row, isReady, due: rows.due[row]! }, nowMs);
  // The row that was to wake the domain may be ready now: promotion looks what wakes it next.
  if (wasParked) slots.wakeAt[at] = nowMs;
}

/** What a slot says of its rows after one of them came or changed. */
function announce(
  tables: Tables,
  { domain, nth }: Submitted,
  changed: { row: number; isReady: boolean; due: number },
  nowMs: number,
): void {
  const at = domain * width;
  const { rows, slots } = tables;
  if (!changed.isReady) {
    slots.wakeAt[at] = earlier(slots.wakeAt[at]!, changed.due);
    return;
  }
  const level = rows.level[changed.row]!;
  const best = !rows.has(changed.row, rowFlag.budgeted)
    ? level
    : isBudgetOpen(tables, domain, nowMs)
      ? shiftedLevel(level, slots.shift[at]!)
      : 0;
  if (best <= slots.top[at]!) return;
  slots.top[at] = best;
  // A slot that enters a level is new there; those of one call stay in the caller's order, a microsecond apart.
  slots.nextAt[at] = Math.max(slots.nextAt[at]!, nowMs + nth / 1000);
}
