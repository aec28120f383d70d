import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Channel, loadChannels, loadMoved } from '../channels/index.ts';
import type { Queryable } from '../db/index.ts';
import type { LeasedUrl } from '../frontier/index.ts';
import { loadSources, type Source } from '../sources/index.ts';

// Changes of sources and channels must act in every process within 5 s.
const lifeMs = 4000;
const mostEntries = 50_000;

type Entry<T> = { value: T | null; until: number };
type Wanted = { sourceIds: Set<number>; hashes: Map<string, Buffer>; loaded: Promise<void> };

/**
 * Sources and channels of the URLs at hand, kept for seconds. What the domains of one lease need is read together, since
 * they ask in the same turn: 45 statements for 600 domains instead of 602.
 */
export class SettingsCache {
  readonly #db: Queryable;
  readonly #monotonic: () => number;
  readonly #sources = new Map<number, Entry<Source>>();
  readonly #channels = new Map<string, Entry<Channel>>();
  #wanted: Wanted | null = null;
  readonly #moved = new Map<string, Channel>();

  constructor(db: Queryable, monotonic: () => number) {
    this.#db = db;
    this.#monotonic = monotonic;
  }

  /** Loads what the batch needs and has not at hand. */
  async prepare(rows: readonly LeasedUrl[]): Promise<void> {
    const now = this.#monotonic();
    let wanted: Wanted | null = null;
    for (const row of rows) {
      if (row.sourceId !== null && !this.#serves(row.sourceId, row, now)) {
        wanted ??= this.#want();
        wanted.sourceIds.add(row.sourceId);
      }
      if (row.kind !== 'channel') continue;
      const key = row.hash.toString('hex');
      // A row without a channel is a contradiction, or its channel came a moment ago: it is looked up anew.
      const known = this.#channels.get(key);
      if (isFresh(known, now) && known?.value) continue;
      wanted ??= this.#want();
      wanted.hashes.set(key, row.hash);
    }
    await wanted?.loaded;
  }

  #want(): Wanted {
    if (this.#wanted !== null) return this.#wanted;
    const wanted: Wanted = { sourceIds: new Set(), hashes: new Map(), loaded: Promise.resolve() };
    this.#wanted = wanted;
    wanted.loaded = nextTurn().then(() => {
      this.#wanted = null;
      return this.#load(wanted);
    });
    return wanted;
  }

  // Read first, then replaced without a pause: other runs of this process look things up meanwhile.
  async #load({ sourceIds, hashes }: Wanted): Promise<void> {
    const now = this.#monotonic();
    const until = now + lifeMs;
    if (this.#sources.size > mostEntries) dropOld(this.#sources, now);
    if (this.#channels.size > mostEntries) dropOld(this.#channels, now);
    if (sourceIds.size > 0) {
      const sources = new Map((await loadSources(this.#db, [...sourceIds])).map((one) => [one.id, one]));
      for (const id of sourceIds) this.#sources.set(id, { value: sources.get(id) ?? null, until });
    }
    if (hashes.size > 0) {
      const channels = new Map(
        (await loadChannels(this.#db, [...hashes.values()])).map((one) => [one.hash.toString('hex'), one]),
      );
      const moved =
        channels.size < hashes.size
          ? await loadMoved(this.#db, [...hashes.values()])
          : new Map<string, Channel>();
      if (this.#moved.size > mostEntries) this.#moved.clear();
      for (const key of hashes.keys()) {
        this.#channels.set(key, { value: channels.get(key) ?? null, until });
        this.#moved.delete(key);
      }
      for (const [key, channel] of moved) this.#moved.set(key, channel);
    }
  }

  /** What a poll has changed of its channel is read again before the next one. */
  forget(row: Pick<LeasedUrl, 'hash'>): void {
    this.#channels.delete(row.hash.toString('hex'));
  }

  /**
   * Whether the copy at hand will do. A listing of a source that is not spidered is a contradiction: the source fell
   * back to links a moment ago, and with the old copy its front page would be read and none of its links followed.
   */
  #serves(id: number, row: LeasedUrl, now: number): boolean {
    const entry = this.#sources.get(id);
    return isFresh(entry, now) && !(row.kind === 'listing' && entry?.value?.ingestionMode === 'feed');
  }

  sourceOf(row: LeasedUrl): Source | null {
    return row.sourceId === null ? null : (this.#sources.get(row.sourceId)?.value ?? null);
  }

  channelOf(row: LeasedUrl): Channel | null {
    return row.kind === 'channel' ? (this.#channels.get(row.hash.toString('hex'))?.value ?? null) : null;
  }

  /** The channel that has left the address of this row. */
  movedFrom(row: LeasedUrl): Channel | null {
    return this.channelOf(row) === null ? (this.#moved.get(row.hash.toString('hex')) ?? null) : null;
  }
}

const isFresh = (entry: Entry<unknown> | undefined, now: number): boolean =>
  entry !== undefined && entry.until > now;

/** Runs under way may need what is fresh. */
function dropOld(entries: Map<unknown, Entry<unknown>>, now: number): void {
  for (const [key, entry] of entries) if (!isFresh(entry, now - lifeMs)) entries.delete(key);
}
