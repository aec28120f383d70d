import type { DomainStatus } from '../../../src/domains/index.ts';
import type { Ladder } from '../../../src/frontier/index.ts';
import { Heaps } from './heap.ts';

/** A number of the database that may be NULL. */
export const none = Number.NaN;

/** Statuses of a domain by number. */
export const statuses: readonly DomainStatus[] = ['pending', 'active', 'exhausted', 'blocked', 'unreachable'];
const pending = statuses.indexOf('pending');

/** Where a domain stands on the ladder, and when that was said. */
export type KnownLadder = { ladder: Ladder; atMs: number };

/** The rows of domain_slots and of domains, column by column; `none` stands for NULL, level 0 for no level. */
export class Slots {
  readonly count: number;
  readonly top: Uint8Array;
  readonly queued: Int32Array;
  /** Ready rows that the budget governs, ready channels, and pages that wait for their time. */
  readonly budgeted: Int32Array;
  readonly readyChannels: Int32Array;
  readonly parkedPages: Int32Array;
  readonly nextAt: Float64Array;
  readonly wakeAt: Float64Array;
  readonly leased: Uint8Array;
  readonly budgetLeft: Float64Array;
  readonly budgetUntil: Float64Array;
  readonly shift: Int8Array;
  readonly penaltyMs: Int32Array;
  readonly goodRun: Uint8Array;
  readonly robotsDelayMs: Int32Array;
  readonly sourceDelayMs: Int32Array;
  readonly configuredDelayMs: Int32Array;
  readonly restUntil: Float64Array;
  /** Held for the sake of robots.txt, and blocked by it. */
  readonly heldByRobots: Uint8Array;
  readonly deniedByRobots: Uint8Array;
  readonly asleep: Uint8Array;
  readonly lastGoodAt: Float64Array;
  readonly ladders: (KnownLadder | null)[];
  readonly status: Uint8Array;
  readonly blockCount: Uint8Array;
  readonly unreachableCount: Uint8Array;
  readonly pagesCrawled: Float64Array;
  readonly documents: Float64Array;
  readonly errors: Float64Array;
  readonly lastCrawledAt: Float64Array;
  readonly firstSeenAt: Float64Array;
  /** Ready rows by level and time: free ones and those the budget governs; parked ones and known pages by time. */
  readonly free: Heaps;
  readonly paid: Heaps;
  readonly parked: Heaps;
  readonly known: Heaps;
  /** Entries of them that no longer hold, because a submit changed their row; without any nobody has to look. */
  readonly staleReady: Int32Array;
  readonly staleParked: Int32Array;
  readonly staleKnown: Int32Array;

  constructor(count: number, startMs: number) {
    const times = (value: number): Float64Array => new Float64Array(count).fill(value);
    const numbers = (): Int32Array => new Int32Array(count);
    const small = (): Uint8Array => new Uint8Array(count);
    this.count = count;
    this.top = small();
    this.queued = numbers();
    this.budgeted = numbers();
    this.readyChannels = numbers();
    this.parkedPages = numbers();
    this.nextAt = times(startMs);
    this.wakeAt = times(none);
    this.leased = small();
    this.budgetLeft = times(none);
    this.budgetUntil = times(none);
    this.shift = new Int8Array(count);
    this.penaltyMs = numbers();
    this.goodRun = small();
    this.robotsDelayMs = numbers();
    this.sourceDelayMs = numbers();
    this.configuredDelayMs = numbers();
    this.restUntil = times(none);
    this.heldByRobots = small();
    this.deniedByRobots = small();
    this.asleep = small().fill(1);
    this.lastGoodAt = times(none);
    this.ladders = new Array<KnownLadder | null>(count).fill(null);
    this.status = small().fill(pending);
    this.blockCount = small();
    this.unreachableCount = small();
    this.pagesCrawled = times(0);
    this.documents = times(0);
    this.errors = times(0);
    this.lastCrawledAt = times(none);
    this.firstSeenAt = times(startMs);
    this.free = new Heaps(count);
    this.paid = new Heaps(count);
    this.parked = new Heaps(count);
    this.known = new Heaps(count);
    this.staleReady = numbers();
    this.staleParked = numbers();
    this.staleKnown = numbers();
  }
}
