/** A time in which work of a process may have been lost: of one life of a process, or of all. */
export type Loss = { life: string | null; fromMs: number; toMs: number; why: string };

/** Why a stopped process loses its work. */
export const frozen = 'frozen';

// A heartbeat, by which a pause becomes known.
const heardMs = 12_000;

/** What was done to whom and when, by this process's monotonic clock. */
export class Ledger {
  readonly losses: Loss[] = [];
  /** Early requests that the freezes explain: one each. */
  freezes = 0;
  readonly struck = new Map<string, number>();
  readonly #silences: { fromMs: number; toMs: number }[] = [];
  readonly #windowMs: number;

  /** `windowMs`: how long before a loss what was fetched may not have been settled, and how long after it is felt. */
  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Begins a loss that goes on until `end` is called. */
  begin(life: string | null, why: string): { end(): void } {
    const loss: Loss = { life, fromMs: performance.now(), toMs: Number.POSITIVE_INFINITY, why };
    this.losses.push(loss);
    return {
      end: () => {
        loss.toMs = performance.now();
      },
    };
  }

  /** A loss of a moment. */
  note(life: string | null, why: string): void {
    this.begin(life, why).end();
  }

  /** Begins a time in which nobody out there answers. */
  beginSilence(): { end(): void } {
    const silence = { fromMs: performance.now(), toMs: Number.POSITIVE_INFINITY };
    this.#silences.push(silence);
    return {
      end: () => {
        silence.toMs = performance.now() + heardMs;
      },
    };
  }

  /** Whether the web is silent, or was so a moment ago. */
  isSilent(atMs: number): boolean {
    return this.#silences.some(({ fromMs, toMs }) => atMs >= fromMs && atMs <= toMs);
  }

  /** When a life of a process was first frozen within a time; null: it was not. */
  frozeAt(life: string, within: { fromMs: number; toMs: number }): number | null {
    const freezes = this.losses.filter(
      (loss) =>
        loss.why === frozen && loss.life === life && loss.fromMs <= within.toMs && loss.toMs >= within.fromMs,
    );
    return freezes.length === 0 ? null : Math.min(...freezes.map((loss) => loss.fromMs));
  }

  count(fault: string): void {
    this.struck.set(fault, (this.struck.get(fault) ?? 0) + 1);
  }

  /** Whether what a life of a process did at a moment may have been lost. */
  explains(life: string, atMs: number): boolean {
    return this.losses.some(
      (loss) =>
        (loss.life === null || loss.life === life) &&
        atMs >= loss.fromMs - this.#windowMs &&
        atMs <= loss.toMs + this.#windowMs,
    );
  }
}
