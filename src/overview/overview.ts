import type { Queryable } from '../db/index.ts';
import { type Attention, decideAttention } from './attention.ts';
import type { OverviewCounts } from './counts.ts';
import { loadOverviewFacts } from './facts.ts';
import type { Flow } from './flow.ts';
import { describeOverview } from './sentence.ts';

/** How everything does: one sentence, the counts of the navigation, the flow, and what needs somebody. */
export type Overview = {
  state: 'ok' | 'warn' | 'fail';
  sentence: string;
  counts: OverviewCounts;
  flow: Flow;
  attention: Attention[];
};

/** Looks at everything, from reads that cost the same however much is stored. */
export async function loadOverview(db: Queryable, skewMs = 0): Promise<Overview> {
  const facts = await loadOverviewFacts(db, skewMs);
  const isFirstRun = facts.counts.sources.count === 0 && facts.counts.pendingUrls === 0;
  const attention = decideAttention(facts);
  return {
    // With nothing to do nobody has to be there; the list says so all the same.
    state: isFirstRun ? 'ok' : (attention[0]?.severity ?? 'ok'),
    sentence: describeOverview(facts),
    counts: facts.counts,
    flow: facts.flow,
    attention,
  };
}
