import type { Queryable } from '../db/index.ts';
import { loadRenderingState, type RenderingState } from '../frontier/index.ts';
import { type JobTroubles, loadJobTroubles } from '../jobs/index.ts';
import { listSwitches, type SwitchState } from '../switches/index.ts';
import { loadOverviewCounts, type OverviewCounts } from './counts.ts';
import { type Flow, type FlowTrend, loadFlow } from './flow.ts';
import { loadProcesses, type Processes } from './processes.ts';
import {
  type EmptySource,
  type FailingChannel,
  type HeldDomain,
  loadEmptySources,
  loadFailingChannels,
  loadHeldDomains,
  loadOpenCircuits,
  loadSinkTroubles,
  type OpenCircuit,
  type SinkTrouble,
} from './troubles.ts';

/** Everything that the sentence and the list of troubles are made from. */
export type OverviewFacts = {
  counts: OverviewCounts;
  flow: Flow;
  trend: FlowTrend;
  processes: Processes;
  switches: SwitchState[];
  rendering: RenderingState;
  failingChannels: FailingChannel[];
  emptySources: EmptySource[];
  heldDomains: HeldDomain[];
  openCircuits: OpenCircuit[];
  sinks: SinkTrouble[];
  jobs: JobTroubles;
};

/** Gathers the facts, one question after the other: a screen must not take all connections of a busy server. */
export async function loadOverviewFacts(db: Queryable, skewMs = 0): Promise<OverviewFacts> {
  const counts = await loadOverviewCounts(db);
  const { flow, trend } = await loadFlow(db, skewMs);
  return {
    counts,
    flow,
    trend,
    processes: await loadProcesses(db),
    switches: await listSwitches(db),
    rendering: await loadRenderingState(db),
    failingChannels: counts.failingChannels.count === 0 ? [] : await loadFailingChannels(db),
    emptySources: counts.sources.count === 0 ? [] : await loadEmptySources(db),
    heldDomains:
      counts.blockedDomains.count + counts.unreachableDomains.count === 0 ? [] : await loadHeldDomains(db),
    openCircuits: await loadOpenCircuits(db),
    sinks: await loadSinkTroubles(db),
    jobs: await loadJobTroubles(db),
  };
}
