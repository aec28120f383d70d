/**
 * What is learnt of a channel: how much it publishes, at which hours and on which days, and what came lately. Forty
 * numbers whatever it publishes; counts fade, so that a channel that changes its ways is learnt anew within weeks.
 */
export type Rhythm = {
  /** When it was brought up to date. */
  atMs: number;
  /** The newest item that was counted. */
  newestMs: number;
  /** Faded number of items, and the faded hours in which they were published. */
  count: number;
  spanH: number;
  /** Faded numbers of items by hour of the day and by day of the week (UTC, Sunday first). */
  hours: number[];
  days: number[];
  /** Items of the last hours, fading within an hour. */
  recent: number;
  /** Faded hours for which bursts were worth extra polls: what they cost is part of what the channel weighs. */
  extraH: number;
};

/** What a poll that was read brought. */
export type PollNews = {
  nowMs: number;
  /** Dates of publication in the body, known items included; those that are missing or lie ahead left out. */
  dates: readonly number[];
  /** New items without a usable date: they came since the poll before. */
  undated: number;
  /**
   * Items that nobody had named before, whatever their dates: no more are counted. Many feeds and sitemaps date what they
   * list by the moment they are asked, and would be asked every minute for it. Left out: all dates are believed.
   */
  newItems?: number | undefined;
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
// A rate is what it was over the last two weeks, a rhythm over two months: there is less to learn a rhythm from.
const rateHalfLifeMs = 14 * dayMs;
const rhythmHalfLifeMs = 60 * dayMs;
const recentLifeMs = hourMs;
const longestHistoryMs = 60 * dayMs;
// So many items of one minute have the date of the list and not their own.
const stampedItems = 4;
const stampedMs = 60_000;
// A list without a single item says that nothing came lately, not since when.
const emptyHistoryMs = 7 * dayMs;

// As powers of e: a power of two costs nine times as much, and every poll asks for several.
const rateDecay = Math.LN2 / rateHalfLifeMs;
const rhythmDecay = Math.LN2 / rhythmHalfLifeMs;

/**
 * Brings what is known of a channel up to date; null: nothing has changed that is worth storing. Whoever keeps rhythms in
 * memory may have the known one written over instead of thrown away.
 */
export function learnRhythm(known: Rhythm | null, news: PollNews, overwrites = false): Rhythm | null {
  const { nowMs } = news;
  // Most polls.
  if (known !== null && news.dates.length + news.undated === 0) return null;
  const oldestMs = nowMs - longestHistoryMs;
  const past = news.dates.filter((date) => date <= nowMs && date > oldestMs);
  if (known === null) return beginRhythm(past, news);
  const fresh = past.filter((date) => date > known.newestMs);
  // An item dated before one that was counted already: late, or with a wrong clock. It is one all the same.
  const dated = fresh.sort((a, b) => b - a).slice(0, news.newItems);
  const undated = Math.min(news.undated, (news.newItems ?? Number.POSITIVE_INFINITY) - dated.length);
  if (dated.length + undated === 0) return null;
  const extraH = extraHours(known, nowMs);
  const next = fade(known, nowMs, overwrites ? known : emptyRhythm(nowMs));
  next.extraH += extraH;
  for (const date of dated) count(next, date);
  for (let n = 0; n < undated; n += 1) count(next, nowMs);
  return next;
}

/** The first poll shows a history: that of a channel with dates is known at once. */
function beginRhythm(past: readonly number[], { nowMs, undated }: PollNews): Rhythm {
  const rhythm = emptyRhythm(nowMs);
  // Without dates the items may be of any age: nothing is known but that the channel has some.
  const isStamped = past.length >= stampedItems && spanMs(past) < stampedMs;
  if (past.length === 0 || isStamped) {
    if (past.length + undated === 0) rhythm.spanH = spanOf(emptyHistoryMs);
    return rhythm;
  }
  const oldest = past.reduce((least, date) => Math.min(least, date), nowMs);
  for (const date of past) {
    // The oldest only says where the history begins.
    if (date > oldest) count(rhythm, date);
    rhythm.newestMs = Math.max(rhythm.newestMs, date);
  }
  rhythm.count = past.reduce(
    (sum, date) => sum + (date > oldest ? Math.exp((date - nowMs) * rateDecay) : 0),
    0,
  );
  rhythm.recent = past.reduce((sum, date) => sum + Math.exp((date - nowMs) / recentLifeMs), 0);
  rhythm.spanH = spanOf(nowMs - oldest);
  return rhythm;
}

const spanMs = (dates: readonly number[]): number =>
  dates.reduce((most, date) => Math.max(most, date), 0) -
  dates.reduce((least, date) => Math.min(least, date), Number.POSITIVE_INFINITY);

const emptyRhythm = (atMs: number): Rhythm => ({
  atMs,
  newestMs: 0,
  count: 0,
  spanH: 0,
  hours: new Array<number>(24).fill(0),
  days: new Array<number>(7).fill(0),
  recent: 0,
  extraH: 0,
});

/** Hours of an observation, faded as its items are. */
const spanOf = (ms: number): number => fadedHours(Math.exp(-ms * rateDecay));

/** The same, when what an item fades to in that time is known. */
const fadedHours = (rateFaded: number): number => (1 - rateFaded) / (rateDecay * hourMs);

const hourOf = (ms: number): number => Math.floor(ms / hourMs) % 24;
// The first day of the epoch was a Thursday.
const dayOf = (ms: number): number => (Math.floor(ms / dayMs) + 4) % 7;

function count(rhythm: Rhythm, atMs: number): void {
  rhythm.hours[hourOf(atMs)]! += 1;
  rhythm.days[dayOf(atMs)]! += 1;
  rhythm.count += 1;
  rhythm.recent += Math.exp(Math.min(0, atMs - rhythm.atMs) / recentLifeMs);
  rhythm.newestMs = Math.max(rhythm.newestMs, atMs);
}

/** The same at a later time, with nothing new; written into another one, or over itself. */
export function fade(rhythm: Rhythm, nowMs: number, into: Rhythm = emptyRhythm(nowMs)): Rhythm {
  const ms = Math.max(0, nowMs - rhythm.atMs);
  const rate = Math.exp(-ms * rateDecay);
  const slow = Math.exp(-ms * rhythmDecay);
  into.atMs = Math.max(nowMs, rhythm.atMs);
  into.newestMs = rhythm.newestMs;
  into.count = rhythm.count * rate;
  into.spanH = rhythm.spanH * rate + fadedHours(rate);
  for (let hour = 0; hour < 24; hour += 1) into.hours[hour] = rhythm.hours[hour]! * slow;
  for (let day = 0; day < 7; day += 1) into.days[day] = rhythm.days[day]! * slow;
  into.recent = rhythm.recent * Math.exp(-ms / recentLifeMs);
  into.extraH = rhythm.extraH * rate;
  return into;
}

/** Hours of polling that the last burst brought on top, until it faded or until now. */
function extraHours(rhythm: Rhythm, nowMs: number): number {
  const { burst } = lookAhead(rhythm, rhythm.atMs);
  const lastedH = (1 - Math.exp((rhythm.atMs - nowMs) / recentLifeMs)) * (recentLifeMs / hourMs);
  return burst === 1 ? 0 : (pollsFor(burst) - 1) * lastedH;
}

/**
 * Polls grow with the items to expect, to this power. The square root makes the mean delay least; a little below it the
 * slow ones gain much and the mean loses little (docs/decisions/0060).
 */
const pollExponent = 0.45;

/** Polls that so many items are worth, beside others. By logarithm: a third of what the power itself costs. */
export const pollsFor = (items: number): number => Math.exp(pollExponent * Math.log(items));

// Believed before anything was seen: half an item in half a day, and every hour and day alike.
const priorItems = 0.5;
const priorHours = 12;
const priorPerHour = 0.5;
const priorPerDay = 6;
const priorRecent = 3;

/** What there is to expect from now on, without the week written out: every poll asks, and for an hour or two only. */
export type Outlook = {
  /** Items per hour over the whole week. */
  rate: number;
  /** How much more comes at present than the rhythm says; 1 unless there is a burst. */
  burst: number;
  /** Polls that bursts bring on top, as a share. */
  extra: number;
  rhythm: Rhythm;
  /** What counts of hours and days have faded to, and what they sum up to with what was believed before. */
  faded: number;
  hoursTotal: number;
  daysTotal: number;
};

/** Items to expect per hour at any time of the week. */
export type Expectation = Pick<Outlook, 'rate' | 'burst' | 'extra'> & {
  hours: readonly number[];
  days: readonly number[];
};

/** What to expect of a channel from now on, hour by hour and day by day. */
export function expectItems(rhythm: Rhythm, nowMs: number): Expectation {
  const outlook = lookAhead(rhythm, nowMs);
  const { rate, burst, extra } = outlook;
  const hours = rhythm.hours.map((_, hour) => hourShare(outlook, hour));
  const days = rhythm.days.map((_, day) => dayShare(outlook, day));
  return { rate, hours, days, burst, extra };
}

/** The same, as far as the next poll needs it. */
export function lookAhead(rhythm: Rhythm, nowMs: number): Outlook {
  const ms = Math.max(0, nowMs - rhythm.atMs);
  const rateFaded = Math.exp(-ms * rateDecay);
  const spanH = rhythm.spanH * rateFaded + fadedHours(rateFaded);
  const rate = (rhythm.count * rateFaded + priorItems) / (spanH + priorHours);
  const faded = Math.exp(-ms * rhythmDecay);
  // Every item counts once among the days and once among the hours: one sum serves both.
  const items = sum(rhythm.days) * faded;
  const outlook: Outlook = {
    rate,
    burst: 1,
    extra: (rhythm.extraH * rateFaded) / (spanH + priorHours),
    rhythm,
    faded,
    hoursTotal: items + priorPerHour * rhythm.hours.length,
    daysTotal: items + priorPerDay * rhythm.days.length,
  };
  const expected = usualAt(outlook, nowMs) * (recentLifeMs / hourMs);
  const recent = rhythm.recent * Math.exp(-ms / recentLifeMs);
  outlook.burst = Math.max(1, (recent + priorRecent) / (expected + priorRecent));
  return outlook;
}

/** Items per hour at a time of the week, without bursts. */
export function usualAt(outlook: Outlook, ms: number): number {
  return outlook.rate * hourShare(outlook, hourOf(ms)) * dayShare(outlook, dayOf(ms));
}

/** An hour beside the mean one. Neighbouring hours are alike; what one lacks the others lend. */
export function hourShare({ rhythm: { hours }, faded, hoursTotal }: Outlook, hour: number): number {
  const after = hour === 23 ? 0 : hour + 1;
  const before = hour === 0 ? 23 : hour - 1;
  const smooth = hours[hour]! / 2 + hours[after]! / 4 + hours[before]! / 4;
  return ((smooth * faded + priorPerHour) / hoursTotal) * 24;
}

/** A day beside the mean one. */
export function dayShare({ rhythm: { days }, faded, daysTotal }: Outlook, day: number): number {
  return ((days[day]! * faded + priorPerDay) / daysTotal) * days.length;
}

// By index: arrays of whole numbers and of fractions come here, and an iterator over both is a call for each number.
function sum(numbers: readonly number[]): number {
  let all = 0;
  for (let at = 0; at < numbers.length; at += 1) all += numbers[at]!;
  return all;
}
