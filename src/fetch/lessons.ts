import { ageLadder, type BlockReason, decideLadder, goodStanding } from '../domains/index.ts';
import type { HoldReason, Ladder, Learnt, Lease } from '../frontier/index.ts';
import type { Clock, Log } from '../telemetry/index.ts';
import { type DomainSignal, decidePenalty, ladderSignalOf } from './outcome.ts';

/** How long a domain rests, by why it was blocked. */
export type Cooldowns = Record<BlockReason, number>;

const hourMs = 3_600_000;
// Each time in a row that it cannot be reached it rests longer.
const unreachableRestMs = [hourMs, 6 * hourMs, 24 * hourMs, 7 * 24 * hourMs];
// After so many network failures in a row the rest of the batch would only wait for the same time-outs.
const networkFailuresToStop = 3;
// Without a pause the other URLs of a host that is down would lose a try each before it counts as unreachable.
const networkPauseMs = 5 * 60_000;

// Schedulers look for what is left of a run twice a second.
const sweepRoomMs = 1500;

/** What of a lease there is to learn from. */
export type LessonLease = Pick<Lease, 'delayMs' | 'penaltyMs' | 'goodRun' | 'ladder'>;

/** What one lease learns about its domain: pace, holds, and where it stands on the ladder. */
export class DomainLessons {
  readonly #lease: LessonLease;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #log: Pick<Log, 'warn'>;
  readonly #cooldowns: Cooldowns;
  readonly #baseDelayMs: number;
  #penalty: { penaltyMs: number; goodRun: number };
  #ladder: Ladder;
  #ladderAt: number;
  #ladderChanged = false;
  #crawlDelayMs: number | null = null;
  #sourceDelayMs: number | null = null;
  #hold: { ms: number; reason: HoldReason; from: number } | null = null;
  #move: Learnt['move'] = undefined;
  #trialPassed = false;
  #networkFailures = 0;

  constructor(
    lease: LessonLease,
    options: { clock: Pick<Clock, 'monotonic'>; log: Pick<Log, 'warn'>; cooldowns: Cooldowns },
  ) {
    this.#lease = lease;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#cooldowns = options.cooldowns;
    this.#baseDelayMs = lease.delayMs - lease.penaltyMs;
    this.#penalty = { penaltyMs: lease.penaltyMs, goodRun: lease.goodRun };
    this.#ladder = lease.ladder ?? goodStanding;
    this.#ladderAt = options.clock.monotonic();
  }

  /** The gap that holds from the next request on. */
  get delayMs(): number {
    return (
      Math.max(this.#baseDelayMs, this.#crawlDelayMs ?? 0, this.#sourceDelayMs ?? 0) + this.#penalty.penaltyMs
    );
  }

  /** The circuit is open and this lease is its probe. */
  get isProbing(): boolean {
    return this.#lease.ladder?.circuitGood != null;
  }

  /** A domain may have several robots.txt, with and without `www` or TLS: the most careful one decides. */
  noteCrawlDelay(delayMs: number | null): void {
    if (delayMs !== null) this.#crawlDelayMs = Math.max(this.#crawlDelayMs ?? 0, delayMs);
  }

  /** Several sources may have URLs on one domain: the most careful one decides. */
  noteSourceDelay(delayMs: number | null): void {
    if (delayMs !== null) this.#sourceDelayMs = Math.max(this.#sourceDelayMs ?? 0, delayMs);
  }

  /** A resting domain answered well. */
  passTrial(): void {
    this.#trialPassed = true;
  }

  /** No row of the batch could be asked for, because robots.txt cannot be read. */
  holdForRobots(ms: number): void {
    this.#holdFor(ms, 'robots');
  }

  /** Rows of a run that is over were let go: a moment for its scheduler, which cannot take what is in flight. */
  makeRoom(): void {
    this.#holdFor(sweepRoomMs, 'politeness');
  }

  /** robots.txt closes the whole domain to us. */
  deny(): void {
    this.#rest('blocked', 'robots_denied', [this.#cooldowns.robots_denied]);
  }

  /** Takes an answer's meaning to heart; answers whether the batch goes on. */
  learn(domain: DomainSignal): boolean {
    this.#penalty = decidePenalty(this.#penalty, this.#baseDelayMs, domain.signal);
    this.#networkFailures = domain.signal === 'network' ? this.#networkFailures + 1 : 0;
    const goesOn = this.#climb(domain);
    if (domain.signal === 'slow_down') {
      this.#holdFor(domain.holdMs, 'retry_after');
      return false;
    }
    if (this.#networkFailures >= networkFailuresToStop) {
      if (this.#ladder.networkFailures > 0) this.#holdFor(networkPauseMs, 'circuit');
      return false;
    }
    return goesOn;
  }

  #climb(domain: DomainSignal): boolean {
    const signal = ladderSignalOf(domain);
    if (signal.signal === 'neutral' || (signal.signal === 'good' && isClean(this.#ladder))) return true;
    const now = this.#clock.monotonic();
    const { ladder, next } = decideLadder(ageLadder(this.#ladder, now - this.#ladderAt), signal);
    this.#ladder = ladder;
    this.#ladderAt = now;
    this.#ladderChanged = true;
    switch (next.step) {
      case 'go_on':
        return true;
      case 'open':
        this.#log.warn({ reason: next.reason, openMs: next.holdMs }, 'circuit breaker tripped');
        this.#holdFor(next.holdMs, 'circuit');
        return false;
      case 'block':
        this.#rest('blocked', next.reason, [this.#cooldowns[next.reason]]);
        return false;
      case 'unreachable':
        this.#rest('unreachable', domain.signal === 'network' ? domain.kind : 'network', unreachableRestMs);
        return false;
    }
  }

  #rest(to: 'blocked' | 'unreachable', reason: string, restMs: readonly number[]): void {
    this.#move = { to, reason, restMs };
    this.#log.warn({ to, reason }, 'the domain rests');
  }

  #holdFor(ms: number, reason: HoldReason): void {
    const now = this.#clock.monotonic();
    const left = this.#hold === null ? 0 : this.#hold.ms - (now - this.#hold.from);
    if (ms > left) this.#hold = { ms, reason, from: now };
  }

  /** Everything there is to tell the database; undefined when the domain is as it was. */
  summary(hasAsked: boolean): Learnt | undefined {
    const now = this.#clock.monotonic();
    const { penaltyMs, goodRun } = this.#penalty;
    const learnt: Learnt = {
      ...(penaltyMs === this.#lease.penaltyMs && goodRun === this.#lease.goodRun
        ? {}
        : { penaltyMs, goodRun }),
      // No delay in a robots.txt that was read is news too, when the domain had one.
      ...(hasAsked
        ? { robotsDelayMs: this.#crawlDelayMs ?? 0, sourceDelayMs: this.#sourceDelayMs ?? 0 }
        : {}),
      ...(this.#ladderChanged ? { ladder: ageLadder(this.#ladder, now - this.#ladderAt) } : {}),
      ...(this.#hold === null
        ? {}
        : {
            hold: {
              ms: Math.max(0, this.#hold.ms - (now - this.#hold.from)),
              reason: this.#hold.reason,
            },
          }),
      ...(this.#trialPassed ? { trialPassed: true } : {}),
      ...(this.#move === undefined ? {} : { move: this.#move }),
    };
    return Object.keys(learnt).length === 0 ? undefined : learnt;
  }
}

const isClean = (ladder: Ladder): boolean =>
  ladder.refusals.length === 0 && ladder.circuitGood === null && ladder.networkFailures === 0;
