import { decideRefresh } from '../../src/domains/index.ts';
import {
  type ChannelError,
  channelErrorOf,
  DomainLessons,
  type DomainSignal,
  decideError,
  decideFailure,
  decidePoll,
  decideStatus,
  type PollInput,
  robotsLife,
  tellsOfDomain,
  type Verdict,
} from '../../src/fetch/index.ts';
import type { UrlStatus } from '../../src/frontier/index.ts';
import type { Answer } from './answers.ts';
import {
  ladderOf,
  none,
  type RowEnding,
  type RowState,
  rowFlag,
  rowState,
  type Settlement,
  type SlotLease,
  width,
} from './frontier/index.ts';
import type { RequestKind } from './measure.ts';
import { blankPollInput, intervalOf, type VisitDeps, type Visited } from './visit-deps.ts';
import type { Publisher } from './web.ts';

const states: Partial<Record<UrlStatus, RowState>> = rowState;
const silent = { warn: () => undefined };
const nothing: number[] = [];
const noEndings: RowEnding[] = [];

/** Does with a lease what a fetcher does, request by request on the virtual clock; see src/fetch/domain-run.ts. */
export class Visit {
  readonly #deps: VisitDeps;
  readonly #robotsUntil: Float64Array;
  readonly #robotsGood: Float64Array;
  // Of the lease at hand.
  #domain = 0;
  #publisher!: Publisher;
  #lease!: SlotLease;
  #atMs = 0;
  #answeredMs = none;
  #delayMs = 0;
  #baseDelayMs = 0;
  #penaltyMs = 0;
  #lessons: DomainLessons | null = null;
  #goodAgeMs: number | null = null;
  #probing = false;
  #endings = noEndings;
  #totals!: Settlement['totals'];
  #found = nothing;
  #edited = nothing;
  #polledMs = 0;
  readonly #pollInput: PollInput;
  readonly #clock = { monotonic: (): number => this.#atMs };

  constructor(deps: VisitDeps) {
    this.#deps = deps;
    const { records } = deps.tables.slots;
    this.#robotsUntil = records.column(Number.NEGATIVE_INFINITY);
    this.#robotsGood = records.column();
    this.#pollInput = blankPollInput(deps.settings);
  }

  run(lease: SlotLease, nowMs: number): Visited {
    this.#begin(lease, nowMs);
    const { rows } = this.#deps.tables;
    for (const row of lease.rows) {
      const goesOn = rows.has(row, rowFlag.channel) ? this.#poll(row) : this.#fetch(row);
      if (!goesOn) break;
    }
    const asked = !Number.isNaN(this.#answeredMs);
    return {
      endMs: this.#atMs,
      settlement: {
        domain: lease.domain,
        rows: lease.rows,
        endings: this.#endings,
        totals: this.#totals,
        idleMs: asked ? this.#atMs - this.#answeredMs : 3_600_000,
        learnt: this.#learnt(asked),
      },
      found: this.#found,
      edited: this.#edited,
      polledMs: this.#polledMs,
    };
  }

  #begin(lease: SlotLease, nowMs: number): void {
    const { tables, publishers } = this.#deps;
    const { slots } = tables;
    const { domain } = lease;
    this.#domain = domain;
    this.#publisher = publishers[domain]!;
    this.#lease = lease;
    this.#atMs = nowMs;
    this.#answeredMs = none;
    this.#delayMs = lease.delayMs;
    this.#penaltyMs = slots.penaltyMs[domain * width]!;
    this.#baseDelayMs = lease.delayMs - this.#penaltyMs;
    this.#lessons = null;
    this.#endings = noEndings;
    this.#totals = { requests: 0, pages: 0, errors: 0, documents: 0, goodAtMs: none };
    this.#found = nothing;
    this.#edited = nothing;
    const lastGoodAt = slots.lastGoodAt[domain * width]!;
    this.#goodAgeMs = Number.isNaN(lastGoodAt) ? null : nowMs - lastGoodAt;
    this.#probing = slots.ladders[domain]?.ladder.circuitGood != null;
    if (this.#penaltyMs > 0 || slots.ladders[domain] !== null) this.#openLessons();
  }

  // A domain in good standing that answers well has nothing to learn: most leases need no object for that.
  #openLessons(): DomainLessons {
    const { tables, cooldowns } = this.#deps;
    this.#lessons ??= new DomainLessons(
      {
        delayMs: this.#lease.delayMs,
        penaltyMs: this.#penaltyMs,
        goodRun: tables.slots.goodRun[this.#domain * width]!,
        ladder: ladderOf(tables, this.#domain, this.#atMs),
      },
      { clock: this.#clock, log: silent, cooldowns },
    );
    this.#lessons.noteCrawlDelay(this.#crawlDelayMs());
    return this.#lessons;
  }

  #crawlDelayMs(): number | null {
    const { crawlDelayMs } = this.#publisher;
    return crawlDelayMs > 0 && this.#robotsGood[this.#domain * width] === 1 ? crawlDelayMs : null;
  }

  /** One paced request. */
  #request(kind: RequestKind, kb: number): Answer {
    const { answers, measures, invariants } = this.#deps;
    const domain = this.#domain;
    const startMs = Number.isNaN(this.#answeredMs)
      ? this.#atMs
      : Math.max(this.#atMs, this.#answeredMs + this.#delayMs);
    invariants.started(domain, startMs);
    const answer = answers.draw(this.#publisher, kind === 'channel' || kind === 'robots' ? kind : 'page', kb);
    this.#answeredMs = startMs + answer.headersMs;
    this.#atMs = startMs + answer.totalMs;
    const wantedMs = Math.max(this.#deps.settings.config.fetch.defaultDelayMs, this.#crawlDelayMs() ?? 0);
    invariants.answered(domain, this.#answeredMs, Math.max(wantedMs, answer.retryAfterMs ?? 0));
    measures.requests[kind][domain]! += 1;
    this.#totals.requests += 1;
    if (kind !== 'robots') {
      const isGood = answer.status !== null && answer.status < 400;
      if (isGood) this.#totals.goodAtMs = this.#atMs;
      else this.#totals.errors += 1;
      if (isGood && kind !== 'channel') this.#totals.pages += 1;
    }
    return answer;
  }

  /** robots.txt first; answers how long it cannot be read yet, 0 when it can. */
  #passGate(): number {
    const domain = this.#domain;
    if (this.#robotsUntil[domain * width]! <= this.#atMs) {
      const answer = this.#request('robots', 2);
      this.#robotsGood[domain * width] = answer.status === null ? 0 : 1;
      this.#robotsUntil[domain * width] =
        this.#atMs + (answer.status === null ? robotsLife.unreachedMs : robotsLife.goodMs);
      const crawlDelayMs = this.#crawlDelayMs();
      this.#lessons?.noteCrawlDelay(crawlDelayMs);
      this.#delayMs = this.#lessons?.delayMs ?? Math.max(this.#baseDelayMs, crawlDelayMs ?? 0);
    }
    return this.#robotsGood[domain * width] === 1
      ? 0
      : Math.max(1000, this.#robotsUntil[domain * width]! - this.#atMs);
  }

  #poll(row: number): boolean {
    const gateMs = this.#passGate();
    if (gateMs > 0) return this.#failPoll(row, 'network', { retryAfterMs: gateMs, signal: unreached });
    const { measures, tables, feeds, settings, random } = this.#deps;
    const domain = this.#domain;
    const publisher = this.#publisher;
    measures.pollLateness.add(Math.max(0, this.#atMs - tables.rows.due[row]!) / 1000);
    const { status, failure, retryAfterMs } = this.#request('channel', this.#deps.settings.web.feedKb);
    if (failure !== null) {
      const { domain: signal } = decideFailure(failure, '', { tries: 0, maxTries: 2 });
      return this.#failPoll(row, 'network', { retryAfterMs: null, signal });
    }
    if (status !== 200) {
      const { domain: signal } = decideStatus(status!, retryAfterMs, {
        tries: 0,
        maxTries: this.#deps.maxTries,
      });
      return this.#failPoll(row, channelErrorOf(status!), { retryAfterMs, signal });
    }
    const nowMs = this.#atMs;
    const known = feeds.rhythms[domain] ?? null;
    const dates = this.#readFeed(nowMs);
    const intervalSeconds = intervalOf(publisher, settings);
    const input = this.#pollInput;
    input.nowMs = nowMs;
    input.intervalSeconds = intervalSeconds;
    input.multiplier = this.#deps.multiplierOf(intervalSeconds);
    input.pushed = feeds.pushed[domain * width] === 1;
    input.known = known;
    input.adaptive = settings.adaptive && publisher.isFixed !== true;
    // Older ones are counted already; the list of a body that tells nothing new teaches nothing.
    input.dates = dates;
    input.bodyFloorSeconds = publisher.floorSeconds;
    const { dueInMs, learnt, weight } = decidePoll(input, random);
    if (learnt !== null) {
      feeds.rhythms[domain] = learnt;
      feeds.weight[domain * width] = weight!;
    }
    feeds.errorKind[domain] = null;
    feeds.errorsInRow[domain * width] = 0;
    feeds.slept[domain * width] = 0;
    feeds.failingSince[domain * width] = none;
    this.#keep(row, { status: 'pending', dueInMs, tries: 0, fetched: true });
    if (this.#lease.trial !== null) this.#openLessons().passTrial();
    return this.#learn(good);
  }

  /** What a poll shows: dates of what is new, and entries that were edited. */
  #readFeed(nowMs: number): number[] {
    const { feeds, measures, settings } = this.#deps;
    const domain = this.#domain;
    const { datesEdits, conditional, feedItems } = this.#publisher;
    const isFirst = feeds.rhythms[domain] === null;
    let dates = feeds.readNew(domain, nowMs);
    if (!isFirst) measures.published += dates.length;
    if (dates.length > feedItems) {
      if (!isFirst) measures.missed += dates.length - feedItems;
      dates = dates.slice(dates.length - feedItems);
    }
    const tells = feeds.hasTold[domain * width] === 1 && (dates.length > 0 || !conditional);
    if (datesEdits && (tells || feeds.nextListedEditMs[domain * width]! <= nowMs))
      this.#edited = feeds.readEdited(domain, nowMs);
    if (dates.length > 0) this.#found = dates;
    else if (conditional && this.#edited.length === 0) measures.notModified += 1;
    if (dates.length > 0 || !conditional) measures.bytes += settings.web.feedKb * 1024;
    this.#polledMs = nowMs;
    // News that a poll found first: nobody may rely on the hub until it pushes again.
    if (dates.length > 0) feeds.pushed[domain * width] = 0;
    return dates;
  }

  #failPoll(
    row: number,
    error: ChannelError,
    extra: { retryAfterMs: number | null; signal: DomainSignal },
  ): boolean {
    if (this.#lease.trial !== null) return false;
    const { tables, feeds, settings, random } = this.#deps;
    const domain = this.#domain;
    const failures = Math.min(255, tables.rows.tries[row]! + 1);
    const errorKind = feeds.errorKind[domain] ?? null;
    const errorsInRow = feeds.errorsInRow[domain * width]!;
    const channel = {
      intervalSeconds: intervalOf(this.#publisher, settings),
      errorKind,
      errorsInRow,
      asleep: feeds.slept[domain * width] === 1,
    };
    const decision = decideError(channel, error, { failures, retryAfterMs: extra.retryAfterMs }, random);
    const failingSince = feeds.failingSince[domain * width]!;
    const failingForMs = Number.isNaN(failingSince) ? null : this.#atMs - failingSince;
    const tells = tellsOfDomain('channel', extra.signal.signal, { goodAgeMs: this.#goodAgeMs, failingForMs });
    feeds.errorKind[domain] = error;
    feeds.errorsInRow[domain * width] = errorKind === error ? Math.min(65_535, errorsInRow + 1) : 1;
    if (decision.sleeps) feeds.slept[domain * width] = 1;
    if (Number.isNaN(failingSince)) feeds.failingSince[domain * width] = this.#atMs;
    this.#keep(row, { status: 'pending', dueInMs: decision.dueInMs, tries: failures, fetched: false });
    return this.#learn(tells ? extra.signal : neutral);
  }

  #fetch(row: number): boolean {
    // A domain that rests is tried with a channel only.
    if (this.#lease.trial !== null) return false;
    const { tables, maxTries, random } = this.#deps;
    const facts = { tries: tables.rows.tries[row]!, maxTries, probing: this.#probing, random };
    const gateMs = this.#passGate();
    if (gateMs > 0) {
      const { verdict, domain } = decideFailure('connect', '', facts);
      this.#keepVerdict(row, verdict, false);
      return this.#learn(domain);
    }
    const { measures } = this.#deps;
    const isAgain = tables.rows.fetches[row]! > 0;
    const waitMs = this.#atMs - tables.rows.due[row]!;
    if (!isAgain && waitMs > measures.longestUrlWaitMs && !tables.rows.has(row, rowFlag.budgeted))
      measures.longestUrlWaitMs = waitMs;
    const answer = this.#request(isAgain ? 'refresh' : 'article', this.#publisher.pageKb);
    if (answer.failure !== null) {
      const { verdict, domain } = decideFailure(answer.failure, '', facts);
      this.#keepVerdict(row, verdict, false);
      return this.#learn(domain);
    }
    const status = answer.status!;
    if (status !== 200) {
      const { verdict, domain } = decideStatus(status, answer.retryAfterMs, facts);
      this.#keepVerdict(row, verdict, status < 500 && status !== 429);
      return this.#learn(domain);
    }
    this.#readPage(row, isAgain);
    return this.#learn(good);
  }

  /** An article that is there; see lookedAgain of src/fetch/conclude/page.ts. */
  #readPage(row: number, isAgain: boolean): void {
    const { tables, feeds, measures, refresh } = this.#deps;
    const nowMs = this.#atMs;
    const editedMs = isAgain ? feeds.editedAt(row) : Number.POSITIVE_INFINITY;
    const changed = editedMs <= nowMs;
    const isSpared = isAgain && !changed && this.#publisher.conditional;
    if (!isSpared) measures.bytes += this.#publisher.pageKb * 1024;
    if (!isAgain) this.#totals.documents += 1;
    else if (changed) {
      measures.versions += 1;
      measures.staleMs += nowMs - editedMs;
    } else measures.unchangedPages += 1;
    feeds.readPage(this.#domain, row, nowMs);
    const known = tables.rows.refreshSeconds[row]!;
    const refreshSeconds =
      refresh === null ? null : decideRefresh(known === 0 ? null : known, changed, refresh);
    this.#note({
      row,
      state: rowState.fetched,
      dueInMs: refreshSeconds === null ? null : refreshSeconds * 1000,
      tries: 0,
      fetched: true,
      refreshSeconds,
      revivable: false,
    });
  }

  #keepVerdict(row: number, verdict: Verdict, fetched: boolean): void {
    const { errorCode } = verdict;
    this.#keep(row, {
      ...verdict,
      fetched,
      revivable: errorCode === 'not_found' || errorCode === 'max_retries',
    });
  }

  #keep(
    row: number,
    end: { status: UrlStatus; dueInMs: number | null; tries: number; fetched: boolean; revivable?: boolean },
  ): void {
    const state = states[end.status];
    if (state === undefined) throw new Error(`the modelled web has no ${end.status}`);
    this.#note({
      row,
      state,
      dueInMs: end.dueInMs,
      tries: Math.min(255, end.tries),
      fetched: end.fetched,
      refreshSeconds: null,
      revivable: end.revivable === true,
    });
  }

  // Most leases have one row: an array that is pushed into has room for seventeen.
  #note(ending: RowEnding): void {
    if (this.#endings.length === 0) this.#endings = [ending];
    else this.#endings.push(ending);
  }

  #learn(signal: DomainSignal): boolean {
    const isCalm = signal.signal === 'good' || signal.signal === 'neutral';
    if (this.#lessons === null && isCalm) return true;
    const goesOn = this.#openLessons().learn(signal);
    this.#delayMs = this.#lessons!.delayMs;
    return goesOn;
  }

  #learnt(asked: boolean): Settlement['learnt'] {
    if (this.#lessons !== null) return this.#lessons.summary(asked);
    if (!asked) return undefined;
    const robotsDelayMs = this.#crawlDelayMs() ?? 0;
    const { slots } = this.#deps.tables;
    return slots.robotsDelayMs[this.#domain * width] === robotsDelayMs
      ? undefined
      : { robotsDelayMs, sourceDelayMs: 0 };
  }
}

const good: DomainSignal = { signal: 'good' };
const neutral: DomainSignal = { signal: 'neutral' };
const unreached: DomainSignal = { signal: 'network', kind: 'connect' };
