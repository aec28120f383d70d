import { decideMultipliers, type Multipliers } from '../../src/channels/index.ts';
import { runOptionsOf } from '../../src/fetch/index.ts';
import { decidePriority, levelOf, type UrlOrigin } from '../../src/frontier/index.ts';
import { randomFrom } from '../../test/web/random.ts';
import { Answers } from './answers.ts';
import { Calendar } from './calendar.ts';
import { findLost } from './end-check.ts';
import { Feeds } from './feeds.ts';
import {
  leaseSlot,
  none,
  promoteSlot,
  ReadyIndex,
  Rows,
  rescoreSlot,
  rowFlag,
  rowState,
  Slots,
  type Submitted,
  settleSlot,
  submitRow,
  type Tables,
  width,
} from './frontier/index.ts';
import { Invariants } from './invariants.ts';
import { Measures, type Outcome } from './measure.ts';
import { type RunPlan, roomFor, runSeed } from './plan.ts';
import type { SimulationSettings } from './settings.ts';
import { Visit } from './visit.ts';
import { intervalOf, type Visited } from './visit-deps.ts';
import type { Publisher } from './web.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const promoteEveryMs = 500;
const refetchAgeMs = 6 * hourMs;
const hubDelayMs = 4000;
const hubReliability = 0.98;
// Events of a domain.
const wakes = 0;
const ends = 1;
const pushes = 2;
// There are three; a power of two is cut off by a shift.
const kindBits = 2;
const kinds = 1 << kindBits;
/** Events of a domain an hour, roughly: what the width of the calendar is chosen by. */
const eventsPerHour = 10;

/** Priorities of what a source of the usual worth brings, by where it was found. */
const priorities: Partial<Record<UrlOrigin, number>> = Object.fromEntries(
  (['feed', 'push', 'archive'] as const).map((origin) => [
    origin,
    decidePriority({ base: 5, origin, kind: 'article', depth: 0, external: false }),
  ]),
);

/** A run on virtual time: the product's policies, a model of its frontier, and a modelled web. */
export class Simulation {
  readonly measures: Measures;
  readonly invariants: Invariants;
  readonly tables: Tables;
  readonly feeds: Feeds;
  readonly #publishers: readonly Publisher[];
  readonly #settings: SimulationSettings;
  readonly #plan: RunPlan;
  readonly #endMs: number;
  readonly #warmMs: number;
  readonly #calendar: Calendar;
  readonly #index: ReadyIndex;
  readonly #visit: Visit;
  readonly #random: () => number;
  readonly #underWay: (Visited | null)[];
  readonly #tickMs: number;
  #freeSeats: number;
  #nowMs: number;
  #multipliers: Multipliers = {};

  constructor(publishers: readonly Publisher[], settings: SimulationSettings, plan: RunPlan) {
    const { config } = settings;
    const options = runOptionsOf(config);
    const count = publishers.length;
    this.#publishers = publishers;
    this.#settings = settings;
    this.#plan = plan;
    this.#nowMs = plan.startMs;
    this.#endMs = plan.startMs + plan.days * dayMs;
    this.#warmMs = plan.startMs + plan.warmDays * dayMs;
    this.#random = randomFrom(runSeed(plan)).next;
    this.#freeSeats = this.seats;
    this.#tickMs = promoteEveryMs / settings.fetchers;
    this.#underWay = new Array<Visited | null>(count).fill(null);
    const capacity = roomFor(publishers, plan.days);
    this.tables = {
      rows: new Rows(capacity),
      slots: new Slots(count, plan.startMs, capacity),
      settings: {
        defaultDelayMs: config.fetch.defaultDelayMs,
        leaseMs: config.fetch.leaseSeconds * 1000,
        batch: config.fetch.batch,
        budget: settings.budgets && options.maxPagesPerRun > 0 ? options.maxPagesPerRun : null,
        refresh: settings.refresh,
        refetchAgeMs,
      },
    };
    this.measures = new Measures(count);
    this.invariants = new Invariants(count, plan.starvationMinutes * 60_000);
    this.feeds = new Feeds(publishers, {
      web: settings.web,
      startMs: plan.startMs,
      rows: capacity,
      records: this.tables.slots.records,
    });
    this.#index = new ReadyIndex(this.tables.slots, settings.order, this.#random);
    // Some two events for each place of the wheel: all of a place are looked at to find its first.
    const widthMs = Math.min(10_000, Math.max(5, (2 * hourMs) / (count * eventsPerHour)));
    this.#calendar = new Calendar(count * kinds, widthMs, plan.startMs);
    this.#visit = new Visit({
      tables: this.tables,
      publishers,
      feeds: this.feeds,
      answers: new Answers(this.#random, settings.web, { headersMs: config.fetch.headersTimeoutMs }),
      measures: this.measures,
      invariants: this.invariants,
      settings,
      cooldowns: options.cooldowns,
      refresh: settings.refresh ? { ...options.refresh, adaptive: settings.adaptive } : null,
      maxTries: options.maxTries,
      random: this.#random,
      multiplierOf: (intervalSeconds) => this.#multipliers[intervalSeconds] ?? null,
    });
    this.#fill();
  }

  get endMs(): number {
    return this.#endMs;
  }

  /** Seats of all fetchers together, as far as they are this part's. */
  get seats(): number {
    const seats = this.#settings.fetchers * this.#settings.config.fetch.domainsAtOnce;
    return Math.max(1, Math.round(seats / (this.#plan.parts ?? 1)));
  }

  /** What the run came to. */
  outcome(): Outcome {
    const { measures, invariants, seats } = this;
    const { leastGapMs, leastMarginMs } = invariants;
    const domains = this.tables.slots.count;
    return { domains, seats, measures, problems: invariants.problems(), leastGapMs, leastMarginMs };
  }

  /** Runs to the end. */
  run(): void {
    let hourMsAt = this.#nowMs;
    for (;;) {
      const event = this.#calendar.peek();
      const eventMs = event < 0 ? Number.POSITIVE_INFINITY : this.#calendar.timeOf(event);
      const dueMs = this.#freeSeats > 0 ? this.#index.nextAt() : Number.POSITIVE_INFINITY;
      const atMs = Math.max(this.#nowMs, Math.min(eventMs, dueMs));
      if (atMs >= hourMsAt) {
        if (hourMsAt >= this.#endMs) break;
        this.#nowMs = Math.max(this.#nowMs, hourMsAt);
        this.#turnHour(hourMsAt);
        hourMsAt += hourMs;
        continue;
      }
      this.#nowMs = atMs;
      if (dueMs <= eventMs) this.#lease();
      else {
        this.#calendar.cancel(event);
        this.#handle(event >> kindBits, event & (kinds - 1));
      }
    }
    this.#nowMs = this.#endMs;
    for (const lost of findLost(this.tables)) this.invariants.fail('lost', lost);
    this.#sumFreshness();
  }

  #handle(domain: number, kind: number): void {
    if (kind === ends) this.#end(domain);
    else if (kind === pushes) this.#push(domain);
    else {
      promoteSlot(this.tables, domain, this.#nowMs);
      this.#follow(domain);
    }
  }

  #lease(): void {
    const { slots } = this.tables;
    while (this.#freeSeats > 0) {
      const domain = this.#index.take(this.#nowMs);
      if (domain < 0) return;
      const lease = leaseSlot(this.tables, domain, this.#nowMs);
      if (lease === null) {
        this.#follow(domain);
        continue;
      }
      const waitMs = this.#nowMs - lease.dueSinceMs;
      (lease.level > 10 ? this.measures.pollWait : this.measures.pageWait).add(waitMs / 1000);
      this.invariants.waited(domain, waitMs);
      if (this.#underWay[domain] !== null) this.invariants.fail('lease', `domain ${domain} was leased twice`);
      const visited = this.#visit.run(lease, this.#nowMs);
      this.#underWay[domain] = visited;
      this.#freeSeats -= 1;
      this.measures.busyMs += Math.min(visited.endMs, this.#endMs) - this.#nowMs;
      this.#calendar.plan(domain * kinds + ends, visited.endMs);
      if (Number.isNaN(slots.wakeAt[domain * width]!)) this.#calendar.cancel(domain * kinds + wakes);
    }
  }

  /** A run is over: found URLs are submitted first, then it is settled. */
  #end(domain: number): void {
    const visited = this.#underWay[domain]!;
    const { settlement } = visited;
    this.#underWay[domain] = null;
    this.#freeSeats += 1;
    const { budget } = this.tables.settings;
    if (visited.found.length > 0) this.#submitFound(domain, visited.found, 'feed', visited.polledMs);
    for (const row of visited.edited) this.#submitEdited(domain, row);
    if (budget !== null) this.#notePaid(domain, settlement.endings, budget);
    for (const ending of settlement.endings)
      if (ending.state === rowState.fetched && this.tables.rows.fetches[ending.row] === 0)
        this.measures.knownMs += this.#endMs - this.#nowMs;
    settleSlot(this.tables, settlement, this.#nowMs);
    this.#follow(domain);
  }

  #notePaid(domain: number, endings: Visited['settlement']['endings'], budget: number): void {
    let paid = 0;
    for (const { row, fetched } of endings)
      if (fetched && this.tables.rows.has(row, rowFlag.budgeted)) paid += 1;
    if (paid > 0) this.invariants.paid(domain, this.tables.slots.budgetUntil[domain * width]!, paid, budget);
  }

  #submitFound(domain: number, dates: readonly number[], origin: UrlOrigin, foundMs: number): void {
    const { measures, feeds } = this;
    // The first poll finds a whole history, of which nobody could have known sooner.
    const isMeasured = foundMs >= this.#warmMs;
    const item = this.#article(domain, origin);
    for (const publishedMs of dates) {
      const { row } = submitRow(this.tables, item, this.#nowMs);
      item.nth += 1;
      feeds.list(domain, row, publishedMs);
      if (publishedMs <= this.#plan.startMs) continue;
      measures.discovered += 1;
      if (isMeasured) measures.discovery.add((foundMs - publishedMs) / 1000);
    }
  }

  #submitEdited(domain: number, row: number): void {
    const modifiedMs = this.feeds.editedAt(row);
    submitRow(this.tables, { ...this.#article(domain, 'feed'), row, modifiedMs }, this.#nowMs);
  }

  #article(domain: number, origin: UrlOrigin): Submitted {
    const priority = priorities[origin]!;
    const budgeted = origin === 'archive';
    return {
      domain,
      level: priority,
      priority,
      channel: false,
      budgeted,
      dueMs: none,
      modifiedMs: none,
      nth: 0,
      row: -1,
    };
  }

  /** A hub tells of an article, or forgets to. */
  #push(domain: number): void {
    const { feeds, measures } = this;
    if (this.#underWay[domain] === null && this.#random() < hubReliability) {
      const dates = feeds.readNew(domain, this.#nowMs);
      measures.published += dates.length;
      measures.pushed += dates.length;
      this.#submitFound(domain, dates, 'push', this.#nowMs);
      feeds.pushed[domain * width] = 1;
      this.#follow(domain);
    }
    this.#planPush(domain);
  }

  #planPush(domain: number): void {
    const atMs = Math.max(this.feeds.nextAt(domain), this.#nowMs) + hubDelayMs * (0.25 + this.#random());
    this.#calendar.plan(domain * kinds + pushes, atMs);
  }

  /** A slot has changed: leases and promotion are told. */
  #follow(domain: number): void {
    this.#index.offer(domain);
    const wakeMs = this.tables.slots.wakeAt[domain * width]!;
    const event = domain * kinds + wakes;
    if (Number.isNaN(wakeMs)) this.#calendar.cancel(event);
    // Promotion looks twice a second, each fetcher for itself.
    else this.#calendar.plan(event, Math.max(this.#nowMs, Math.ceil(wakeMs / this.#tickMs) * this.#tickMs));
  }

  /** What the schedule role does every hour, and a look at what waits. */
  #turnHour(atMs: number): void {
    const { slots } = this.tables;
    if (this.#settings.adaptive) this.#multipliers = this.#share();
    let backlog = 0;
    for (let domain = 0; domain < slots.count; domain += 1) {
      backlog += slots.queued[domain * width]!;
      if (rescoreSlot(this.tables, domain, atMs)) this.#follow(domain);
    }
    this.measures.backlog.push(backlog);
    this.measures.maxBacklog = Math.max(this.measures.maxBacklog, backlog);
    const day = (atMs - this.#plan.startMs) / dayMs;
    if (Number.isInteger(day)) this.#plan.onDay?.(day);
  }

  /** sharePolls: channels that fail or are slowed by their publisher take no part. */
  #share(): Multipliers {
    const groups = new Map<number, { intervalSeconds: number; channels: number; weight: number }>();
    for (const [domain, publisher] of this.#publishers.entries()) {
      const weight = this.feeds.weight[domain * width]!;
      const intervalSeconds = intervalOf(publisher, this.#settings);
      if (Number.isNaN(weight) || this.feeds.errorsInRow[domain * width]! > 0) continue;
      if (publisher.floorSeconds > intervalSeconds || publisher.isFixed === true) continue;
      const group = groups.get(intervalSeconds) ?? { intervalSeconds, channels: 0, weight: 0 };
      group.channels += 1;
      group.weight += weight;
      groups.set(intervalSeconds, group);
    }
    return decideMultipliers([...groups.values()]);
  }

  #fill(): void {
    const { slots, rows } = this.tables;
    const startMs = this.#nowMs;
    for (const [domain, publisher] of this.#publishers.entries()) {
      const spreadMs = Math.min(intervalOf(publisher, this.#settings) * 1000, hourMs);
      const dueMs = startMs + Math.ceil(this.#random() * spreadMs);
      const channel = {
        ...this.#article(domain, 'feed'),
        channel: true,
        level: levelOf('channel', 5),
        dueMs,
      };
      submitRow(this.tables, channel, startMs);
    }
    // Channels first: their rows are looked at all the time, and lie side by side.
    for (const [domain, publisher] of this.#publishers.entries()) {
      for (let page = 0; page < publisher.archivePages; page += 1)
        this.feeds.noteOld(submitRow(this.tables, this.#article(domain, 'archive'), startMs).row);
      const refreshMs = this.#settings.config.domains.refreshDays * dayMs;
      for (let page = 0; page < publisher.knownPages; page += 1) {
        // Known, and due again some time within the first interval.
        const item = {
          ...this.#article(domain, 'feed'),
          dueMs: startMs + 1 + Math.ceil(this.#random() * refreshMs),
        };
        const { row } = submitRow(this.tables, item, startMs);
        rows.state[row] = rowState.fetched;
        rows.set(row, rowFlag.answered);
        rows.fetches[row] = 1;
        rows.refreshSeconds[row] = refreshMs / 1000;
        slots.parkedPages[domain * width]! -= 1;
        slots.staleParked[domain * width]! += 1;
        slots.known.push(domain, item.dueMs, row);
        this.feeds.noteOld(row);
        this.measures.knownMs += this.#endMs - startMs;
      }
      this.#follow(domain);
      if (publisher.hub && this.#settings.websub) this.#planPush(domain);
    }
  }

  /** What is stale at the end has been so since its edit. */
  #sumFreshness(): void {
    const { rows } = this.tables;
    for (let row = 0; row < rows.count; row += 1) {
      if (!rows.has(row, rowFlag.answered) || rows.has(row, rowFlag.channel)) continue;
      if (rows.state[row] === rowState.dead) continue;
      this.measures.known += 1;
      const editedMs = this.feeds.editedAt(row);
      if (editedMs > this.#endMs) continue;
      this.measures.stale.add((this.#endMs - editedMs) / 1000);
      this.measures.staleMs += this.#endMs - editedMs;
    }
  }
}
