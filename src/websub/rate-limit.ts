/** How much may come: a steady rate, and so many at once after a pause. */
export type Rate = { perSecond: number; burst: number };

const mostKeys = 10_000;

/** Token buckets by key, in bounded memory. */
export class RateLimit {
  readonly #rate: Rate;
  readonly #monotonic: () => number;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(rate: Rate, monotonic: () => number) {
    this.#rate = rate;
    this.#monotonic = monotonic;
  }

  /** Takes one if it is allowed. */
  take(key: string): boolean {
    const left = this.#leftOf(key);
    // The oldest goes: whoever was quiet for longest has a full bucket anyway.
    if (!this.#buckets.delete(key) && this.#buckets.size >= mostKeys)
      this.#buckets.delete(this.#buckets.keys().next().value!);
    this.#buckets.set(key, { left: left >= 1 ? left - 1 : left, at: this.#monotonic() });
    return left >= 1;
  }

  #leftOf(key: string): number {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) return this.#rate.burst;
    const seconds = (this.#monotonic() - bucket.at) / 1000;
    return Math.min(this.#rate.burst, bucket.left + seconds * this.#rate.perSecond);
  }
}
