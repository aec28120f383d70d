import { type Channel, loadChannels } from '../channels/index.ts';
import type { Queryable } from '../db/index.ts';
import type { LeasedUrl } from '../frontier/index.ts';
import { loadSources, type Source } from '../sources/index.ts';

// Changes of sources and channels must act in every process within 5 s.
const lifeMs = 4000;
const mostEntries = 50_000;

type Entry<T> = { value: T | null; until: number };

/** Sources and channels of the URLs at hand, read in one statement each and kept for seconds. */
export class SettingsCache {
  readonly #db: Queryable;
  readonly #monotonic: () => number;
  readonly #sources = new Map<number, Entry<Source>>();
  readonly #channels = new Map<string, Entry<Channel>>();

  constructor(db: Queryable, monotonic: () => number) {
    this.#db = db;
    this.#monotonic = monotonic;
  }

  /** Loads what the batch needs and has not at hand. */
  async prepare(rows: readonly LeasedUrl[]): Promise<void> {
    const now = this.#monotonic();
    const sourceIds = new Set<number>();
    const hashes = new Map<string, Buffer>();
    for (const row of rows) {
      if (row.sourceId !== null && !this.#serves(row.sourceId, row, now)) sourceIds.add(row.sourceId);
      const key = row.hash.toString('hex');
      if (row.kind === 'channel' && !isFresh(this.#channels.get(key), now)) hashes.set(key, row.hash);
    }
    if (this.#sources.size > mostEntries) this.#sources.clear();
    if (this.#channels.size > mostEntries) this.#channels.clear();
    const until = now + lifeMs;
    if (sourceIds.size > 0) {
      for (const id of sourceIds) this.#sources.set(id, { value: null, until });
      for (const source of await loadSources(this.#db, [...sourceIds]))
        this.#sources.set(source.id, { value: source, until });
    }
    if (hashes.size > 0) {
      for (const key of hashes.keys()) this.#channels.set(key, { value: null, until });
      for (const channel of await loadChannels(this.#db, [...hashes.values()])) {
        this.#channels.set(channel.hash.toString('hex'), { value: channel, until });
      }
    }
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
}

const isFresh = (entry: Entry<unknown> | undefined, now: number): boolean =>
  entry !== undefined && entry.until > now;
