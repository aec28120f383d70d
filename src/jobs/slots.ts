/** Slots are quarters of an hour; a day has 96 of them. */
export const slotSeconds = 900;
export const slotsPerDay = 96;
const daySeconds = slotSeconds * slotsPerDay;

/** Jobs that fall due together: at a second, and again after each interval; null: once. */
export type SlotGroup = { at: number; intervalSeconds: number | null; jobs: number };

/**
 * How many runs begin in each quarter of the next 24 hours. The first slot is the one that time stands in: what remains
 * of it now and its beginning tomorrow are one, so that the 96 slots hold exactly a day. Times are seconds since 1970.
 */
export class Slots {
  readonly nowSeconds: number;
  readonly loads: number[] = Array.from({ length: slotsPerDay }, () => 0);
  readonly #base: number;
  // Jobs whose interval is shorter than a slot are in every slot: they are spread over their own interval.
  #short = 0;

  constructor(nowSeconds: number, groups: Iterable<SlotGroup> = []) {
    this.nowSeconds = nowSeconds;
    this.#base = Math.floor(nowSeconds / slotSeconds) * slotSeconds;
    for (const { at, intervalSeconds, jobs } of groups) this.count(at, intervalSeconds, jobs);
  }

  /** Adds jobs to every slot they run in, or takes them away. */
  count(at: number, intervalSeconds: number | null, jobs: number): void {
    if (intervalSeconds !== null && intervalSeconds < slotSeconds) this.#short += jobs;
    this.#eachRun(at, intervalSeconds, (slot) => {
      this.loads[slot]! += jobs;
    });
  }

  /** What lies in the slots of a job, counted once for each of its runs. */
  weigh(at: number, intervalSeconds: number | null): number {
    let sum = 0;
    this.#eachRun(at, intervalSeconds, (slot) => {
      sum += this.loads[slot]!;
    });
    return sum;
  }

  /** When a slot begins. */
  startOf(slot: number): number {
    return this.#base + slot * slotSeconds;
  }

  /**
   * The second at which a recurring job should run first: within its interval and a day, where least runs beside it in
   * all its slots together, the earliest among equals; within the slot where nobody stands yet.
   */
  choose(intervalSeconds: number): number {
    if (intervalSeconds < slotSeconds) return this.nowSeconds + spread(this.#short, intervalSeconds);
    const reach = Math.min(intervalSeconds, daySeconds);
    const places = Array.from({ length: Math.floor(reach / slotSeconds) }, (_, slot) => {
      const at = this.startOf(slot) + spread(this.loads[slot]!, slotSeconds);
      // In the slot that time stands in what has passed comes again after the interval.
      return at < this.nowSeconds ? at + reach : at;
    });
    let best = places[0]!;
    let least = Number.POSITIVE_INFINITY;
    for (const at of places.toSorted((a, b) => a - b)) {
      const load = this.weigh(at, intervalSeconds);
      if (load >= least) continue;
      least = load;
      best = at;
    }
    return best;
  }

  /** Chooses for several jobs, one after the other, each seeing those before it. */
  chooseAll(intervals: readonly number[]): number[] {
    return intervals.map((intervalSeconds) => {
      const at = this.choose(intervalSeconds);
      this.count(at, intervalSeconds, 1);
      return at;
    });
  }

  #eachRun(at: number, intervalSeconds: number | null, visit: (slot: number) => void): void {
    const until = this.nowSeconds + daySeconds;
    const step = intervalSeconds ?? daySeconds;
    const isLate = at < this.nowSeconds;
    // What is overdue begins now if it runs once; what recurs is counted where it comes again.
    const late =
      intervalSeconds === null ? this.nowSeconds : at + Math.ceil((this.nowSeconds - at) / step) * step;
    for (let time = isLate ? late : at; time < until; time += step)
      visit(Math.floor((time - this.#base) / slotSeconds) % slotsPerDay);
  }
}

// Multiples of the golden ratio lie far from each other however many there are.
const goldenRatio = (Math.sqrt(5) - 1) / 2;
const spread = (number: number, seconds: number): number =>
  Math.floor(((number * goldenRatio) % 1) * seconds);

/** Where runs of the next 24 hours lie. */
export type Distribution = {
  /**
   * The share of the runs that could stay where they are if all slots were filled evenly: 1 − (runs above the even
   * height) ÷ (all runs), the even height being the mean, rounded up. 1 where nothing is to be run.
   */
  distributionScore: number;
  slotMinutes: number;
  /** Recurring jobs that are on. */
  totalJobs: number;
  totalRuns: number;
  /** Runs in each hour from now on. */
  hourlyDistribution: { at: Date; runs: number }[];
  /** Runs in each slot. */
  slots: { at: Date; runs: number }[];
  /** The fullest slot; null: nothing is to be run. */
  peak: { at: Date; runs: number } | null;
};

/** Says how evenly slots are filled. */
export function distributionOf(slots: Slots, totalJobs: number): Distribution {
  const { loads } = slots;
  const total = loads.reduce((sum, load) => sum + load, 0);
  const even = Math.ceil(total / slotsPerDay);
  const above = loads.reduce((sum, load) => sum + Math.max(0, load - even), 0);
  const timed = loads.map((runs, slot) => ({ at: new Date(slots.startOf(slot) * 1000), runs }));
  const peak = timed.reduce((most, one) => (one.runs > most.runs ? one : most));
  return {
    distributionScore: total === 0 ? 1 : 1 - above / total,
    slotMinutes: slotSeconds / 60,
    totalJobs,
    totalRuns: total,
    hourlyDistribution: Array.from({ length: 24 }, (_, hour) => ({
      at: timed[hour * 4]!.at,
      runs: loads.slice(hour * 4, hour * 4 + 4).reduce((sum, load) => sum + load, 0),
    })),
    slots: timed,
    peak: peak.runs === 0 ? null : peak,
  };
}

/** A job that could be given another time. */
export type Placed = { id: number; at: number; intervalSeconds: number };

/** A job and the times between which it is moved. */
export type Move = { id: number; from: number; to: number };

// A pass moves what gains by it; what a pass leaves undone the next finds, and three leave nothing worth a move.
const passes = 3;

/**
 * Who should move where, so that slots are filled evenly: from the fullest places first, each only where it gains. The
 * slots are left as they will be then. The same slots and jobs always answer the same.
 */
export function decideMoves(slots: Slots, movable: readonly Placed[]): Move[] {
  const at = new Map(movable.map((job) => [job.id, job.at]));
  for (let pass = 0; pass < passes; pass += 1) {
    const order = movable
      .map((job) => ({ job, load: slots.weigh(at.get(job.id)!, job.intervalSeconds) }))
      .toSorted((a, b) => b.load - a.load || a.job.id - b.job.id);
    let moved = 0;
    for (const { job } of order) {
      const now = at.get(job.id)!;
      slots.count(now, job.intervalSeconds, -1);
      const best = slots.choose(job.intervalSeconds);
      const gains = slots.weigh(best, job.intervalSeconds) < slots.weigh(now, job.intervalSeconds);
      slots.count(gains ? best : now, job.intervalSeconds, 1);
      if (!gains) continue;
      at.set(job.id, best);
      moved += 1;
    }
    if (moved === 0) break;
  }
  return movable
    .filter((job) => at.get(job.id) !== job.at)
    .map((job) => ({ id: job.id, from: job.at, to: at.get(job.id)! }));
}
