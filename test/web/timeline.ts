import { hashOf, poissonFrom, randomFrom, shareOf } from './random.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
/** Numbers of a day's scheduled items lie below, those an operator asked for above. */
const maxScheduledPerDay = 600;
const idsPerDay = 1_000;
/** How far back a slow publisher's catalogue may reach. */
const maxHistoryDays = 3_650;

/** Relative activity by hour of the publisher's day: quiet nights, a morning and an afternoon peak. */
const hourWeights = [2, 1, 1, 1, 2, 5, 9, 12, 13, 12, 11, 10, 9, 10, 11, 11, 10, 9, 8, 7, 6, 5, 4, 3];
/** Sunday first. */
const weekdayWeights = [0.55, 1.15, 1.2, 1.2, 1.15, 1.1, 0.65];
const burstShare = 0.03;
const burstFactor = 4;

/** One published item; its number alone, with the seed, gives everything else. */
export interface Item {
  readonly id: number;
  readonly atMs: number;
  /** Position in the order of publication, from the oldest of the catalogue. */
  readonly index: number;
}

/** The order in which a publisher's items appear. */
export interface Timeline {
  /** How many items are out at a moment. */
  countAt(nowMs: number): number;
  /** The item at a position of the order of publication. */
  at(index: number): Item | undefined;
  byId(id: number): Item | undefined;
  /** Publishes items now, outside the schedule. */
  publish(nowMs: number, count: number): Item[];
}

/**
 * Items of one publisher. Each day is drawn on its own from (seed, domain, day), so the same article exists under the
 * same number whatever the web's start, and no history is stored: it is drawn again when somebody asks.
 */
export function createTimeline(options: {
  seed: number;
  domain: string;
  ratePerDay: number;
  backlog: number;
  startMs: number;
}): Timeline {
  const { seed, domain, ratePerDay, backlog, startMs } = options;
  const offsetHours = hashOf(seed, domain, 'zone') % 4;
  const items: Item[] = [];
  const known = new Map<number, Item>();
  let nextDay = Math.floor(startMs / dayMs) + 1;

  const append = (drawn: { id: number; atMs: number }[]) => {
    for (const { id, atMs } of drawn) {
      const item = { id, atMs, index: items.length };
      items.push(item);
      known.set(id, item);
    }
  };
  const drawCatalogue = () => {
    let past: { id: number; atMs: number }[] = [];
    const today = nextDay - 1;
    const todays = drawDay({ seed, domain, ratePerDay, offsetHours, day: today });
    for (let day = today - 1, left = maxHistoryDays; past.length < backlog && left > 0; day--, left--)
      past = [...drawDay({ seed, domain, ratePerDay, offsetHours, day }), ...past];
    const before = [...past, ...todays.filter((item) => item.atMs <= startMs)];
    append(before.slice(Math.max(0, before.length - backlog)));
    append(todays.filter((item) => item.atMs > startMs));
  };
  const drawUntil = (nowMs: number) => {
    for (const today = Math.floor(nowMs / dayMs); nextDay <= today; nextDay++)
      append(drawDay({ seed, domain, ratePerDay, offsetHours, day: nextDay }));
  };
  drawCatalogue();

  const countAt = (nowMs: number) => {
    drawUntil(nowMs);
    let low = 0;
    let high = items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((items[middle] as Item).atMs <= nowMs) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    countAt,
    at: (index) => items[index],
    byId: (id) => known.get(id),
    publish: (nowMs, count) => publishInto(items, known, { nowMs, count, at: countAt(nowMs) }),
  };
}

function drawDay(options: {
  seed: number;
  domain: string;
  ratePerDay: number;
  offsetHours: number;
  day: number;
}): { id: number; atMs: number }[] {
  const { seed, domain, ratePerDay, offsetHours, day } = options;
  const random = randomFrom(hashOf(seed, domain, 'day', day));
  const burst = shareOf(seed, domain, 'burst', day) < burstShare;
  const weekday = (day + 4) % 7;
  const mean = ratePerDay * (weekdayWeights[weekday] as number);
  const count = Math.min(maxScheduledPerDay, poissonFrom(random, burst ? mean * burstFactor : mean));
  const burstHour = random.int(24);
  const drawn: { id: number; atMs: number }[] = [];
  for (let number = 0; number < count; number++) {
    // In a burst most items fall into two hours, as on the day of a great event.
    const inBurst = burst && random.next() < 1 - 1 / burstFactor;
    const hour = inBurst ? burstHour + random.next() * 2 : pickHour(random.next()) + random.next();
    const atMs = Math.floor(day * dayMs + ((hour + offsetHours) % 24) * hourMs);
    drawn.push({ id: day * idsPerDay + number, atMs });
  }
  return drawn.sort((a, b) => a.atMs - b.atMs || a.id - b.id);
}

const hourTotal = hourWeights.reduce((sum, weight) => sum + weight, 0);

function pickHour(share: number): number {
  let left = share * hourTotal;
  for (let hour = 0; hour < 24; hour++) {
    left -= hourWeights[hour] as number;
    if (left < 0) return hour;
  }
  return 23;
}

/** Unscheduled items are the one thing the seed does not know; they keep their own range of numbers. */
function publishInto(
  items: Item[],
  known: Map<number, Item>,
  options: { nowMs: number; count: number; at: number },
): Item[] {
  const { nowMs, count, at } = options;
  const added: Item[] = [];
  let id = Math.floor(nowMs / dayMs) * idsPerDay + maxScheduledPerDay;
  for (let left = Math.min(count, idsPerDay - maxScheduledPerDay); left > 0; left--) {
    while (known.has(id)) id++;
    const item = { id, atMs: nowMs, index: at + added.length };
    known.set(id, item);
    added.push(item);
  }
  const later = items.splice(at).map((item, i) => ({ ...item, index: at + added.length + i }));
  for (const item of [...added, ...later]) {
    items.push(item);
    known.set(item.id, item);
  }
  return added;
}
