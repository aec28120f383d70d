import type { DomainStatus } from '../../../src/domains/index.ts';
import type { Ladder } from '../../../src/frontier/index.ts';
import { HeapRoom, Heaps } from './heaps.ts';
import { Records } from './records.ts';

/** A number of the database that may be NULL. */
export const none = Number.NaN;

/** Statuses of a domain by number. */
export const statuses: readonly DomainStatus[] = ['pending', 'active', 'exhausted', 'blocked', 'unreachable'];
const pending = statuses.indexOf('pending');

/** Where a domain stands on the ladder, and when that was said. */
export type KnownLadder = { ladder: Ladder; atMs: number };

/**
 * The rows of domain_slots and of domains as records: what a domain has in a column is at `domain * width`. `none` stands
 * for NULL, level 0 for no level.
 */
export class Slots {
  readonly count: number;
  /** Where they lie; there is room for what others keep of a domain. */
  readonly records: Records;
  readonly top: Float64Array;
  readonly queued: Float64Array;
  /** Ready rows that the budget governs, ready channels, and pages that wait for their time. */
  readonly budgeted: Float64Array;
  readonly readyChannels: Float64Array;
  readonly parkedPages: Float64Array;
  readonly nextAt: Float64Array;
  readonly wakeAt: Float64Array;
  readonly leased: Float64Array;
  readonly budgetLeft: Float64Array;
  readonly budgetUntil: Float64Array;
  readonly shift: Float64Array;
  readonly penaltyMs: Float64Array;
  readonly goodRun: Float64Array;
  readonly robotsDelayMs: Float64Array;
  readonly sourceDelayMs: Float64Array;
  readonly configuredDelayMs: Float64Array;
  readonly restUntil: Float64Array;
  /** Held for the sake of robots.txt, and blocked by it. */
  readonly heldByRobots: Float64Array;
  readonly deniedByRobots: Float64Array;
  readonly asleep: Float64Array;
  readonly lastGoodAt: Float64Array;
  readonly ladders: (KnownLadder | null)[];
  readonly status: Float64Array;
  readonly blockCount: Float64Array;
  readonly unreachableCount: Float64Array;
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
  readonly staleReady: Float64Array;
  readonly staleParked: Float64Array;
  readonly staleKnown: Float64Array;

  /** Of so many entries of its queues there is room from the beginning. */
  constructor(count: number, startMs: number, entries?: number) {
    const records = new Records(count);
    const room = new HeapRoom(entries);
    const column = (value = 0): Float64Array => records.column(value);
    this.count = count;
    this.records = records;
    this.parked = new Heaps(records, room);
    this.known = new Heaps(records, room);
    this.free = new Heaps(records, room);
    this.paid = new Heaps(records, room);
    this.top = column();
    this.nextAt = column(startMs);
    this.wakeAt = column(none);
    this.leased = column();
    this.queued = column();
    this.budgeted = column();
    this.readyChannels = column();
    this.parkedPages = column();
    this.staleReady = column();
    this.staleParked = column();
    this.staleKnown = column();
    this.budgetLeft = column(none);
    this.budgetUntil = column(none);
    this.shift = column();
    this.asleep = column(1);
    this.restUntil = column(none);
    this.robotsDelayMs = column();
    this.configuredDelayMs = column();
    this.sourceDelayMs = column();
    this.penaltyMs = column();
    this.heldByRobots = column();
    this.lastGoodAt = column(none);
    this.pagesCrawled = column();
    this.documents = column();
    this.errors = column();
    this.lastCrawledAt = column(none);
    this.firstSeenAt = column(startMs);
    this.unreachableCount = column();
    this.status = column(pending);
    // What is seldom looked at comes last.
    this.goodRun = column();
    this.deniedByRobots = column();
    this.blockCount = column();
    this.ladders = new Array<KnownLadder | null>(count).fill(null);
  }
}
