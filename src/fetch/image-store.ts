import { type BlobStore, openBlobStore } from '../blobs/index.ts';
import type { Config } from '../config/index.ts';
import type { Queryable } from '../db/index.ts';
import type { ImageFacts } from '../image-formats/index.ts';
import { claimImage } from '../images/index.ts';
import type { Clock, Log } from '../telemetry/index.ts';

/** An image that was fetched and is to be stored. */
export type FetchedImage = { sha256: Buffer; facts: ImageFacts; body: Buffer };

const firstRestMs = 30_000;
const longestRestMs = 600_000;

/**
 * Puts images into the store before their rows are settled. While the store is in trouble nothing is put, and the
 * fetcher asks publishers for no image that it could not keep; the rests grow to ten minutes.
 */
export class ImageStore {
  readonly #db: Queryable;
  readonly #blobs: BlobStore;
  readonly #clock: Clock;
  readonly #log: Log;
  #failures = 0;
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(options: { db: Queryable; config: Config; clock: Clock; log: Log }) {
    this.#db = options.db;
    this.#blobs = openBlobStore(options.config);
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** How long the store rests still; 0: it can be used. */
  get restMs(): number {
    return Math.max(0, this.#restsUntil - this.#clock.monotonic());
  }

  /** Announces the image, then puts its bytes: who dies in between leaves nothing that is not found again. */
  async put(
    image: FetchedImage,
  ): Promise<{ outcome: 'stored' } | { outcome: 'unavailable'; detail: string }> {
    const { sha256, facts, body } = image;
    await claimImage(this.#db, { ...facts, sha256, bytes: body.length, storedIn: this.#blobs.kind });
    const result = await this.#blobs.put(sha256, body, `image/${facts.format}`);
    if (result.outcome !== 'failed') {
      this.#failures = 0;
      return { outcome: 'stored' };
    }
    const restMs = Math.min(longestRestMs, firstRestMs * 2 ** this.#failures);
    this.#failures += 1;
    this.#restsUntil = this.#clock.monotonic() + restMs;
    this.#log.warn(
      { store: this.#blobs.kind, detail: result.detail, restMs },
      'an image could not be stored; images wait until the store is back',
    );
    return { outcome: 'unavailable', detail: result.detail };
  }

  close(): Promise<void> {
    return this.#blobs.close();
  }
}
