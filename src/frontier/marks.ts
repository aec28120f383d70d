/**
 * Low-water marks of one worker: below them a level's index holds only entries of slots that have moved on. While a
 * long snapshot keeps such dead entries from being removed, every probe would walk all of them again.
 *
 * They are safe because next_at is never written below now() and a slot that enters a level gets a next_at of now() or
 * later; the 10 s that the database keeps between a mark and its clock cover transactions still under way. A slot that
 * somebody else has locked is passed over, so marks rest before they are used: whoever let go of it meanwhile has it
 * probed again by the marks before. What was locked in every probe of that time is found by the full one once a minute.
 */
export type Marks = {
  /** For the next lease: by level, index 0 = level 1; all null asks for a full probe. */
  current(): readonly (Date | null)[];
  /** What that lease answered. */
  save(marks: readonly (Date | null)[]): void;
};

const levels = 12;
const fullProbeEveryMs = 60_000;
// Longer than a lock is held: submits, scores and operators' acts take milliseconds, and wait three seconds at most.
const usualRestMs = 5000;

/** Makes the marks of one worker and pool; `monotonic` is the worker's own clock in milliseconds. */
export function createMarks(monotonic: () => number, restMs = usualRestMs): Marks {
  const unknown: readonly null[] = new Array<null>(levels).fill(null);
  let marks: readonly (Date | null)[] = unknown;
  let resting: { marks: readonly (Date | null)[]; since: number } | null = null;
  let fullProbeAt = monotonic();
  return {
    current: () => {
      const now = monotonic();
      if (now >= fullProbeAt) {
        fullProbeAt = now + fullProbeEveryMs;
        return unknown;
      }
      if (resting !== null && now - resting.since >= restMs) {
        marks = resting.marks;
        resting = null;
      }
      return marks;
    },
    save: (answered) => {
      resting ??= { marks: answered, since: monotonic() };
    },
  };
}
