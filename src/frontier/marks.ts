/**
 * Low-water marks of one worker: below them a level's index holds only entries of slots that have moved on. While a
 * long snapshot keeps such dead entries from being removed, every probe would walk all of them again.
 *
 * They are safe because next_at is never written below now() and a slot that enters a level gets a next_at of now() or
 * later; the 10 s that the database keeps between a mark and its clock cover transactions still under way. What was
 * locked by somebody else when a mark passed it is found by the full probe that comes once a minute.
 */
export type Marks = {
  /** For the next lease: by level, index 0 = level 1; all null asks for a full probe. */
  current(): readonly (Date | null)[];
  /** What that lease answered. */
  save(marks: readonly (Date | null)[]): void;
};

const levels = 12;
const fullProbeEveryMs = 60_000;

/** Makes the marks of one worker and pool; `monotonic` is the worker's own clock in milliseconds. */
export function createMarks(monotonic: () => number): Marks {
  const unknown: readonly null[] = new Array<null>(levels).fill(null);
  let marks: readonly (Date | null)[] = unknown;
  let fullProbeAt = monotonic();
  return {
    current: () => {
      const now = monotonic();
      if (now < fullProbeAt) return marks;
      fullProbeAt = now + fullProbeEveryMs;
      return unknown;
    },
    save: (answered) => {
      marks = answered;
    },
  };
}
