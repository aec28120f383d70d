/** Channels of one interval, as far as sharing polls among them needs. */
export type FleetGroup = {
  intervalSeconds: number;
  /** How many of them there are, and what they weigh together. */
  channels: number;
  weight: number;
};

/** How polls are shared, by the interval in seconds. */
export type Multipliers = Readonly<Record<string, number>>;

/**
 * Shares the polls that fixed intervals would make among channels of the same interval: all of them together are polled
 * as often as before, each by what it weighs. Channels of different intervals do not trade: the interval is what an
 * operator said of their worth.
 */
export function decideMultipliers(groups: readonly FleetGroup[]): Multipliers {
  const entries = groups
    .filter((one) => one.weight > 0 && one.channels > 0)
    .map((one) => [String(one.intervalSeconds), one.channels / one.intervalSeconds / one.weight] as const);
  return Object.fromEntries(entries);
}
