import type { Queryable } from '../db/index.ts';
import { type SettleItem, type SubmitItem, type SubmitResult, submit } from '../frontier/index.ts';
import type { ExecutionState } from '../jobs/index.ts';
import type { Clock, Metrics } from '../telemetry/index.ts';

/** What came of the URLs that a row named. */
export type FoundTotals = {
  seen: number;
  duplicate: number;
  rejected: number;
  inserted: number;
  /** New ones without a date of publication. */
  newUndated: number;
  delays: { items: number; seconds: number };
};

/** Nothing found so far. */
export const nothingFound = (): FoundTotals => ({
  seen: 0,
  duplicate: 0,
  rejected: 0,
  inserted: 0,
  newUndated: 0,
  delays: { items: 0, seconds: 0 },
});

// Dated longer before the last poll than this, an item was put in late and says nothing about our delay.
const backdatedMs = 86_400_000;

/** Submits what a row named and adds to its totals. Called before the settle: a crash in between only submits again. */
export async function submitFound(
  deps: { db: Queryable; clock: Clock; metrics: Metrics },
  links: readonly SubmitItem[],
  totals: FoundTotals,
  /** When the channel was polled before; null: no channel, or its first poll, which finds a whole history. */
  lastPollMs: number | null,
): Promise<SubmitResult[]> {
  if (links.length === 0) return [];
  const results = await submit(deps.db, links);
  totals.seen += results.length;
  for (const [at, { answer }] of results.entries()) {
    const word = answer.startsWith('rejected') ? 'rejected' : answer;
    deps.metrics.submitted.inc({ answer: word });
    if (word === 'duplicate') totals.duplicate += 1;
    else if (word === 'rejected') totals.rejected += 1;
    else if (word === 'inserted') noteNew(deps, links[at]!, totals, lastPollMs);
  }
  return results;
}

/** A link that a run of a job found: it waits for it, and listings are fetched again once per run. */
export function asOfRun(link: SubmitItem, run: Pick<ExecutionState, 'id' | 'startedAt'>): SubmitItem {
  if (link.origin !== 'spider' && link.origin !== 'redirect') return link;
  const again = link.kind === 'listing' ? { refetchBefore: run.startedAt } : {};
  return { ...link, executionId: run.id, ...again };
}

/** The articles among links, with whether they are new. A guess is none: the next run may know that it leads elsewhere. */
export function articlesOf(
  links: readonly SubmitItem[],
  results: readonly SubmitResult[],
  guesses: ReadonlySet<string> = new Set(),
): { hash: Buffer; isNew: boolean }[] {
  return results.flatMap(({ hash, answer }, at) =>
    hash === null ||
    links[at]!.kind !== 'article' ||
    guesses.has(links[at]!.url) ||
    answer.startsWith('rejected')
      ? []
      : [{ hash, isNew: answer === 'inserted' }],
  );
}

function noteNew(
  { clock, metrics }: { clock: Clock; metrics: Metrics },
  { publishedAt }: SubmitItem,
  totals: FoundTotals,
  lastPollMs: number | null,
): void {
  totals.inserted += 1;
  if (publishedAt == null) totals.newUndated += 1;
  if (publishedAt == null || lastPollMs === null) return;
  const nowMs = clock.now();
  const delayS = (nowMs - publishedAt.getTime()) / 1000;
  // Dated ahead, its clock is wrong.
  if (!(delayS >= 0) || delayS * 1000 > nowMs - lastPollMs + backdatedMs) return;
  metrics.discoveryDelay.observe(delayS);
  totals.delays.items += 1;
  totals.delays.seconds += delayS;
}

/** Writes the totals where the settle stores them. */
export function noteFound(item: SettleItem, totals: FoundTotals): void {
  if (totals.seen === 0) return;
  const before = item.found ?? { seen: 0, duplicate: 0, rejected: 0 };
  item.found = {
    seen: before.seen + totals.seen,
    duplicate: before.duplicate + totals.duplicate,
    rejected: before.rejected + totals.rejected,
  };
  if (item.channel === undefined) return;
  item.channel.newItems += totals.inserted;
  if (totals.delays.items > 0) item.channel.delays = totals.delays;
}
