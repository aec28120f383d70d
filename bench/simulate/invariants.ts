/** What must hold in every run, whatever is simulated. Kept apart from the model: it believes nothing it says. */
export class Invariants {
  readonly #earliestMs: Float64Array;
  readonly #budgetUntil: Float64Array;
  readonly #paid: Int32Array;
  readonly #problems = new Map<string, { count: number; first: string }>();
  readonly #starvationMs: number;
  /** Least gap between an answer and the next request to the same domain, and by how much the wanted one was kept. */
  leastGapMs = Number.POSITIVE_INFINITY;
  leastMarginMs = Number.POSITIVE_INFINITY;
  readonly #answeredMs: Float64Array;

  constructor(domains: number, starvationMs: number) {
    this.#earliestMs = new Float64Array(domains).fill(Number.NEGATIVE_INFINITY);
    this.#answeredMs = new Float64Array(domains).fill(Number.NaN);
    this.#budgetUntil = new Float64Array(domains).fill(Number.NaN);
    this.#paid = new Int32Array(domains);
    this.#starvationMs = starvationMs;
  }

  /** A request starts. */
  started(domain: number, atMs: number): void {
    const answered = this.#answeredMs[domain]!;
    if (Number.isNaN(answered)) return;
    const gapMs = atMs - answered;
    const marginMs = atMs - this.#earliestMs[domain]!;
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
    this.#answeredMs[domain] = atMs;
    this.#earliestMs[domain] = atMs + waitMs;
  }

  /** A domain was leased that had been due for so long. */
  waited(domain: number, waitMs: number): void {
    if (waitMs > this.#starvationMs)
      this.fail('starvation', `domain ${domain} was due for ${(waitMs / 60_000).toFixed(1)} minutes`);
  }

  /** Pages of a run, known by its end, were paid for. */
  paid(domain: number, untilMs: number, pages: number, budget: number): void {
    if (this.#budgetUntil[domain] !== untilMs) {
      this.#budgetUntil[domain] = untilMs;
      this.#paid[domain] = 0;
    }
    this.#paid[domain]! += pages;
    if (this.#paid[domain]! > budget)
      this.fail('budget', `domain ${domain} had ${this.#paid[domain]} pages in a run of ${budget}`);
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
