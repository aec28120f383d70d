import { isPassing } from '../db/index.ts';
import { type Lease, type LeasedUrl, loadHostRules } from '../frontier/index.ts';
import { decideBudget, type Switches } from '../switches/index.ts';
import { identifyUrl, type RulesOf } from '../url/index.ts';
import { DomainLessons } from './lessons.ts';
import { tellsOfDomain } from './outcome.ts';
import { Pacer } from './pacer.ts';
import type { RunDeps } from './run-deps.ts';
import { Spider } from './spider.ts';
import { Unsettled } from './unsettled.ts';
import { type Reached, Visits } from './visits.ts';

// Time for other domains to fail too, before a failure is held against this one.
const outageDoubtMs = 1500;

/** Whether the batch goes on, and when robots.txt may be asked again if that is what the row waits for. */
type RowTurn = { goesOn: boolean; robotsRetryMs: number | null };
const next: RowTurn = { goesOn: true, robotsRetryMs: null };
const stop: RowTurn = { goesOn: false, robotsRetryMs: null };

const isForbiddenEverywhere = ({ arrival }: Reached): boolean =>
  arrival.end === 'gate' && arrival.gate.answer === 'blocked' && arrival.gate.everywhere;

/** A domain's name by the addresses that are leased with it; files that an index names may lie in another. */
function nameOf({ urls, domainKey }: Lease): string {
  for (const { url } of urls) {
    const identified = identifyUrl(url);
    if (identified.outcome === 'ok' && identified.identity.domainKey === domainKey)
      return identified.identity.domain;
  }
  return BigInt.asUintN(64, domainKey).toString(16).padStart(16, '0');
}

/** Works through one leased domain: fetch, conclude, submit what was found, settle; alone and in order. */
export class DomainRun {
  readonly lease: Lease;
  /** Name of the domain, as people know it. */
  readonly domain: string;
  readonly #deps: RunDeps;
  readonly #pacer: Pacer;
  readonly #stop = new AbortController();
  #stopsAt: number;
  #lost = false;
  #draining = false;
  readonly #unsettled: Unsettled;
  readonly #lessons: DomainLessons;
  readonly #spider: Spider;
  #switches: Switches | null = null;
  #signAt: number;

  constructor({ log, ...shared }: RunDeps, lease: Lease, stopsAt: number) {
    this.domain = nameOf(lease);
    const deps = { ...shared, log: log.child({ domain: this.domain }) };
    this.#deps = deps;
    this.lease = lease;
    this.#stopsAt = stopsAt;
    this.#signAt = deps.clock.monotonic();
    this.#pacer = new Pacer(deps.clock, lease.delayMs);
    this.#unsettled = new Unsettled(deps, lease, this.#pacer);
    this.#spider = new Spider(deps, lease);
    this.#lessons = new DomainLessons(lease, {
      clock: deps.clock,
      log: deps.log,
      cooldowns: deps.options.cooldowns,
    });
  }

  /** How long nothing has been heard of it, no row begun and no answer come, beyond the gap it keeps. */
  get silentMs(): number {
    const heardAt = Math.max(this.#signAt, this.#pacer.lastAnswerAt ?? this.#signAt);
    return this.#deps.clock.monotonic() - heardAt - this.#pacer.delayMs;
  }

  /** A renewal moved the time at which this worker must stop by itself. */
  extend(stopsAt: number): void {
    this.#stopsAt = stopsAt;
  }

  /** Somebody else has the domain now: stop at once, change nothing. */
  lose(): void {
    this.#lost = true;
    this.#spider.lose();
    this.#stop.abort();
  }

  /** Finish the request under way, hand back the rest. */
  drain(): void {
    this.#draining = true;
  }

  /** Give up the request under way too. */
  abort(): void {
    this.#draining = true;
    this.#stop.abort();
  }

  /** Runs the whole batch and ends the lease. */
  async run(): Promise<void> {
    try {
      await this.#run();
    } finally {
      this.#unsettled.recordings.release();
    }
  }

  async #run(): Promise<void> {
    try {
      const switches = await this.#deps.switches.current();
      this.#switches = switches;
      const visits = this.#visit(switches, await loadHostRules(this.#deps.db));
      await this.#deps.settings.prepare(this.lease.urls);
      if (this.lease.trial === null) await this.#runBatch(visits);
      else await this.#runTrial(visits, this.lease.urls[0]!, this.lease.trial);
    } catch (error) {
      // Something nobody foresaw. What is done is settled, the lease is left to expire: from the second time on the
      // batch is one URL, and the one that does it three times is given up as crash_loop.
      if (!this.#lost) await this.#settle(false);
      throw error;
    }
    if (!this.#lost || this.#unsettled.requests.length > 0) await this.#settle(true);
  }

  #visit(switches: Switches, rules: RulesOf): Visits {
    return new Visits(this.#deps, {
      lease: this.lease,
      pacer: this.#pacer,
      lessons: this.#lessons,
      spider: this.#spider,
      unsettled: this.#unsettled,
      switches,
      rules,
      signal: this.#stop.signal,
      mayStart: () => this.#mayStart(),
      retried: (call) => this.#retried(call),
    });
  }

  async #runBatch(visits: Visits): Promise<void> {
    let waiting = 0;
    let retryMs = 0;
    for (const row of this.lease.urls) {
      if (!this.#mayStart()) return;
      this.#signAt = this.#deps.clock.monotonic();
      const { goesOn, robotsRetryMs } = await this.#runRow(visits, row);
      if (robotsRetryMs !== null) {
        waiting += 1;
        retryMs = Math.max(retryMs, robotsRetryMs);
      }
      if (!goesOn) return;
      // The last row's end is settled with the lease's.
      if (row !== this.lease.urls.at(-1) && this.#unsettled.isDue()) await this.#settle(false);
    }
    // Every row waits for a robots.txt that cannot be read: the others of the domain would only be handed round.
    if (waiting === this.lease.urls.length) this.#lessons.holdForRobots(retryMs);
  }

  /** One look at a domain that rests. Only success counts; anything else leaves row, channel and domain as they are. */
  async #runTrial(visits: Visits, row: LeasedUrl, trial: 'channel' | 'robots'): Promise<void> {
    if (trial === 'robots') {
      if (await visits.mayReturn(row)) this.#lessons.passTrial();
      return;
    }
    if ((await visits.endUnpolled(row)) !== null) return;
    const reached = await visits.reach(row);
    if (reached === null || reached.end.domain.signal !== 'good') return;
    this.#lessons.passTrial();
    this.#lessons.learn(reached.end.domain);
    await visits.keep(row, reached);
  }

  #mayStart(): boolean {
    return (
      !this.#lost &&
      !this.#draining &&
      !this.#stop.signal.aborted &&
      this.#deps.clock.monotonic() < this.#stopsAt
    );
  }

  /** One row, from its execution's wish to what the domain learns of it. */
  async #runRow(visits: Visits, leased: LeasedUrl): Promise<RowTurn> {
    const { settings, executions } = this.#deps;
    // A batch may take longer than a change of its source may wait.
    await this.#retried(() => settings.prepare([leased]));
    const execution =
      leased.executionId === null ? null : await this.#retried(() => executions.current(leased));
    // Handed back as it is: what a run leaves behind is swept by its scheduler within a moment.
    if (execution !== null && executions.refuses(execution)) {
      this.#lessons.makeRoom();
      return next;
    }
    // A run that is over has let go of it.
    const row = execution?.stands === 'over' ? { ...leased, executionId: null } : leased;
    const unasked = await visits.endUnasked(row);
    if (unasked === 'handed_back') return next;
    if (unasked !== null) {
      this.#unsettled.keep(unasked.items);
      return next;
    }
    const lateSeconds = row.kind === 'channel' ? this.#lateness(row) : null;
    const reached = await visits.reach(row);
    if (reached === null) return stop;
    const { arrival, end } = reached;
    executions.note(row, arrival.end === 'answered' && arrival.result.outcome !== 'failed');
    const facts = end.items[0]?.channel;
    if (facts !== undefined && lateSeconds !== null) facts.lateSeconds = lateSeconds;
    if (row.kind !== 'probe' && isForbiddenEverywhere(reached)) {
      // The rows wait for the day robots.txt changes; given up one by one they would have to be found again.
      this.#lessons.deny();
      return stop;
    }
    if (end.domain.signal === 'network' && (await this.#isOutage(row))) return stop;
    await visits.keep(row, reached);
    const tells = tellsOfDomain(row.kind, end.domain.signal, {
      goodAgeMs: this.lease.goodAgeMs,
      failingForMs: settings.channelOf(row)?.failingForMs ?? null,
    });
    const goesOn = this.#lessons.learn(tells ? end.domain : { signal: 'neutral' });
    this.#pacer.setDelay(this.#lessons.delayMs);
    const gate = arrival.end === 'gate' && arrival.gate.answer === 'unavailable' ? arrival.gate : null;
    return { goesOn, robotsRetryMs: gate === null || gate.unreached !== null ? null : gate.retryMs };
  }

  #lateness(row: LeasedUrl): number {
    const { clock, metrics } = this.#deps;
    const lateSeconds = Math.max(0, (clock.now() - row.dueAt.getTime()) / 1000);
    metrics.pollLateness.observe(lateSeconds);
    return lateSeconds;
  }

  /** Whether the failure is our own network's: then it counts against no URL and no domain. */
  async #isOutage(row: LeasedUrl): Promise<boolean> {
    const { clock, outage } = this.#deps;
    if (outage.isSilent && !outage.isSuspected) await clock.wait(outageDoubtMs, this.#stop.signal);
    if (!outage.isSuspected) return false;
    for (const request of this.#unsettled.requests)
      if (request.status === null && (request.hash === null || request.hash.equals(row.hash)))
        request.outcome = 'outage';
    return true;
  }

  async #settle(final: boolean): Promise<void> {
    await this.#retried(() => this.#spider.save());
    const { outcome, items } = await this.#unsettled.settle({
      final,
      learnt: this.#lessons.summary(this.#pacer.lastAnswerAt !== null),
      budget:
        this.#switches === null ? null : decideBudget(this.#switches, this.#deps.options.maxPagesPerRun),
      retried: (call) => this.#retried(call),
    });
    if (outcome === 'stale') this.lose();
    for (const item of items) if (item.kind === 'channel') this.#deps.settings.forget(item);
  }

  /** Database trouble is waited out until the lease runs out; the fence makes repeating safe. */
  async #retried<T>(call: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await call();
      } catch (error) {
        const patient = isPassing(error) && this.#deps.clock.monotonic() < this.#stopsAt + 10_000;
        if (!patient) throw error;
        await this.#deps.clock.wait(Math.min(5000, 200 * 2 ** attempt));
      }
    }
  }
}
