// What is kept of a domain.
const marks = 4;
const answered = 0;
const earliest = 1;
const budgetUntil = 2;
const paid = 3;

/** What must hold in every run, whatever is simulated. Kept apart from the model: it believes nothing it says. */
export class Invariants {
  /** Four numbers of each domain side by side. */
  readonly #marks: Float64Array;
  readonly #problems = new Map<string, { count: number; first: string }>();
  readonly #starvationMs: number;
  /** Least gap between an answer and the next request to the same domain, and by how much the wanted one was kept. */
  leastGapMs = Number.POSITIVE_INFINITY;
  leastMarginMs = Number.POSITIVE_INFINITY;

  constructor(domains: number, starvationMs: number) {
    this.#marks = new Float64Array(domains * marks).fill(Number.NaN);
    this.#starvationMs = starvationMs;
  }

  /** A request starts. */
  started(domain: number, atMs: number): void {
    const answeredMs = this.#marks[domain * marks + answered]!;
    if (Number.isNaN(answeredMs)) return;
    const gapMs = atMs - answeredMs;
    const marginMs = atMs - this.#marks[domain * marks + earliest]!;
    if (gapMs < this.leastGapMs) this.leastGapMs = gapMs;
    if (marginMs < this.leastMarginMs) this.leastMarginMs = marginMs;
    // Times are sums of fractions: what is less than a microsecond is no time.
    if (marginMs < -0.001)
      this.fail(
        'politeness',
        `domain ${domain} was asked ${(-marginMs).toFixed(1)} ms before its delay had passed`,
      );
  }

  /** Headers or a failure came; nothing may start within the wait, which is its delay or what it asked for. */
  answered(domain: number, atMs: number, waitMs: number): void {
    this.#marks[domain * marks + answered] = atMs;
    this.#marks[domain * marks + earliest] = atMs + waitMs;
  }

  /** A domain was leased that had been due for so long. */
  waited(domain: number, waitMs: number): void {
    if (waitMs > this.#starvationMs)
      this.fail('starvation', `domain ${domain} was due for ${(waitMs / 60_000).toFixed(1)} minutes`);
  }

  /** Pages of a run, known by its end, were paid for. */
  paid(domain: number, untilMs: number, pages: number, budget: number): void {
    if (this.#marks[domain * marks + budgetUntil] !== untilMs) {
      this.#marks[domain * marks + budgetUntil] = untilMs;
      this.#marks[domain * marks + paid] = 0;
    }
    this.#marks[domain * marks + paid]! += pages;
    if (this.#marks[domain * marks + paid]! > budget)
      this.fail(
        'budget',
        `domain ${domain} had ${this.#marks[domain * marks + paid]} pages in a run of ${budget}`,
      );
  }

  fail(what: string, detail: string): void {
    const known = this.#problems.get(what);
    if (known === undefined) this.#problems.set(what, { count: 1, first: detail });
    else known.count += 1;
  }

  /** What did not hold, each kind once with its first case. */
  problems(): { what: string; count: number; first: string }[] {
    return [...this.#problems].map(([what, { count, first }]) => ({ what, count, first }));
  }
}
