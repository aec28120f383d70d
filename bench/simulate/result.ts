import { type Outcome, requestKinds } from './measure.ts';

/** What a run came to; times in seconds unless named otherwise. */
export type RunResult = ReturnType<typeof resultOf>;

const round = (value: number, digits = 1): number => Number(value.toFixed(digits));

/** Sums a run up. */
export function resultOf(
  outcome: Outcome,
  took: { seconds: number; cpuSeconds: number; days: number; parts: number },
) {
  const { measures, problems, domains } = outcome;
  const perDomain = new Float64Array(domains);
  const byKind = Object.fromEntries(
    requestKinds.map((kind) => {
      let sum = 0;
      for (const [domain, count] of measures.requests[kind].entries()) {
        sum += count;
        perDomain[domain]! += count;
      }
      return [kind, sum];
    }),
  );
  perDomain.sort();
  const total = perDomain.reduce((sum, one) => sum + one, 0);
  return {
    discovery: measures.discovery.summary(),
    pollLateness: measures.pollLateness.summary(),
    freshness: {
      known: measures.known,
      currentShare: round(1 - measures.stale.count / Math.max(1, measures.known), 4),
      currentShareOverTime: round(1 - measures.staleMs / Math.max(1, measures.knownMs), 4),
      lackingMeanHours: round(measures.stale.mean / 3600),
      lackingP95Hours: round(measures.stale.quantile(0.95) / 3600),
    },
    requests: {
      total,
      perSecond: round(total / (took.days * 86_400), 2),
      perDomainAndDay: {
        mean: round(total / domains / took.days),
        p95: round(perDomain[Math.floor(0.95 * (domains - 1))]! / took.days),
        max: round(perDomain[domains - 1]! / took.days),
      },
      byKind,
      notModified: measures.notModified,
      unchangedPages: measures.unchangedPages,
      gigabytes: round(measures.bytes / 1e9),
    },
    articles: {
      discovered: measures.discovered,
      pushed: measures.pushed,
      missed: measures.missed,
      versions: measures.versions,
    },
    backlog: {
      max: measures.maxBacklog,
      atEnd: measures.backlog.at(-1) ?? 0,
      daily: daily(measures.backlog),
    },
    starvation: {
      pollsWorst: round(measures.pollWait.max),
      pollsP95: round(measures.pollWait.quantile(0.95)),
      pagesWorst: round(measures.pageWait.max),
      pagesP95: round(measures.pageWait.quantile(0.95)),
      urlWorst: round(measures.longestUrlWaitMs / 1000),
    },
    politeness: {
      leastGapMs: round(finite(outcome.leastGapMs), 3),
      leastMarginMs: round(finite(outcome.leastMarginMs), 3),
    },
    utilisation: round(measures.busyMs / (outcome.seats * took.days * 86_400_000), 4),
    holds: problems.length === 0,
    problems,
    parts: took.parts,
    seconds: round(took.seconds),
    cpuSeconds: round(took.cpuSeconds),
    // The most there was: parts that are done have given theirs back.
    memoryMb: Math.round(process.resourceUsage().maxRSS / 1000),
  };
}

// Nobody was asked twice.
const finite = (value: number): number => (Number.isFinite(value) ? value : 0);

/** The fullest hour of each day: a line that fits a screen. */
function daily(hours: readonly number[]): number[] {
  const days: number[] = [];
  for (const [hour, count] of hours.entries()) {
    const day = Math.floor(hour / 24);
    days[day] = Math.max(days[day] ?? 0, count);
  }
  return days;
}
