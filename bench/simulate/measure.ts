// Steps of one part in fifty from a hundredth of a second to a year.
const base = 1.02;
const least = 0.01;
const steps = 1200;

/** Distribution of durations in seconds, in a thousand numbers however many there are. */
export class Distribution {
  readonly counts = new Float64Array(steps);
  sum = 0;
  count = 0;
  max = 0;

  add(seconds: number): void {
    const at =
      seconds <= least ? 0 : Math.min(steps - 1, Math.ceil(Math.log(seconds / least) / Math.log(base)));
    this.counts[at]! += 1;
    this.sum += seconds;
    this.count += 1;
    if (seconds > this.max) this.max = seconds;
  }

  /** Adds another one, or what is left of it after a way between threads. */
  merge(other: Pick<Distribution, 'counts' | 'sum' | 'count' | 'max'>): void {
    for (const [at, count] of other.counts.entries()) this.counts[at]! += count;
    this.sum += other.sum;
    this.count += other.count;
    this.max = Math.max(this.max, other.max);
  }

  get mean(): number {
    return this.count === 0 ? 0 : this.sum / this.count;
  }

  /** Right to one part in fifty. */
  quantile(share: number): number {
    let left = share * this.count;
    for (let at = 0; at < steps; at += 1) {
      left -= this.counts[at]!;
      if (left <= 0) return Math.min(this.max, least * base ** at);
    }
    return this.max;
  }

  summary(): { count: number; mean: number; p50: number; p95: number; worst: number } {
    const round = (value: number): number => Number(value.toFixed(1));
    return {
      count: this.count,
      mean: round(this.mean),
      p50: round(this.quantile(0.5)),
      p95: round(this.quantile(0.95)),
      worst: round(this.max),
    };
  }
}

/** What requests are for. */
export const requestKinds = ['channel', 'article', 'refresh', 'robots'] as const;
export type RequestKind = (typeof requestKinds)[number];

/** What a run is measured by. */
export class Measures {
  readonly discovery = new Distribution();
  readonly pollLateness = new Distribution();
  /** How long due domains waited for a fetcher: those with a poll to make, and all others. */
  readonly pollWait = new Distribution();
  readonly pageWait = new Distribution();
  readonly requests: Record<RequestKind, Uint32Array>;
  notModified = 0;
  unchangedPages = 0;
  bytes = 0;
  busyMs = 0;
  published = 0;
  discovered = 0;
  pushed = 0;
  /** Articles that fell out of their feed between two polls. */
  missed = 0;
  versions = 0;
  longestUrlWaitMs = 0;
  /** Articles that are stored at the end, and how long those that are not as they are now have been so. */
  known = 0;
  readonly stale = new Distribution();
  knownMs = 0;
  staleMs = 0;
  maxBacklog = 0;
  /** Rows that were ready at each full hour. */
  readonly backlog: number[] = [];

  constructor(domains: number) {
    const counts = (): Uint32Array => new Uint32Array(domains);
    this.requests = { channel: counts(), article: counts(), refresh: counts(), robots: counts() };
  }
}

/** What a run, or a part of it, leaves behind; it can travel between threads. */
export type Outcome = {
  domains: number;
  seats: number;
  measures: Measures;
  problems: { what: string; count: number; first: string }[];
  leastGapMs: number;
  leastMarginMs: number;
};

const distributions = ['discovery', 'pollLateness', 'pollWait', 'pageWait', 'stale'] as const;
const sums = [
  'notModified',
  'unchangedPages',
  'bytes',
  'busyMs',
  'published',
  'discovered',
  'pushed',
  'missed',
  'versions',
  'known',
  'knownMs',
  'staleMs',
] as const;

/** Puts the parts of a run together, each of which had its share of domains and seats. */
export function mergeOutcomes(parts: readonly Outcome[]): Outcome {
  const domains = parts.reduce((sum, one) => sum + one.domains, 0);
  const measures = new Measures(domains);
  const problems = new Map<string, Outcome['problems'][number]>();
  let from = 0;
  for (const part of parts) {
    for (const kind of requestKinds) measures.requests[kind].set(part.measures.requests[kind], from);
    from += part.domains;
    for (const name of distributions) measures[name].merge(part.measures[name]);
    for (const name of sums) measures[name] += part.measures[name];
    measures.longestUrlWaitMs = Math.max(measures.longestUrlWaitMs, part.measures.longestUrlWaitMs);
    for (const [hour, count] of part.measures.backlog.entries())
      measures.backlog[hour] = (measures.backlog[hour] ?? 0) + count;
    for (const one of part.problems)
      problems.set(one.what, { ...one, count: one.count + (problems.get(one.what)?.count ?? 0) });
  }
  measures.maxBacklog = measures.backlog.reduce((most, one) => Math.max(most, one), 0);
  return {
    domains,
    measures,
    seats: parts.reduce((sum, one) => sum + one.seats, 0),
    problems: [...problems.values()],
    leastGapMs: Math.min(...parts.map((one) => one.leastGapMs)),
    leastMarginMs: Math.min(...parts.map((one) => one.leastMarginMs)),
  };
}
