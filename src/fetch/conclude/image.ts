import type { LeasedUrl } from '../../frontier/index.ts';
import { type IngestSettings, imageModeOf } from '../../ingest/index.ts';
import { decideBackoff } from '../outcome.ts';
import { ended, type RowEnd } from './row-end.ts';

/** The end of an image that is not fetched now; null: it is. */
export function concludeUnfetchedImage(
  row: LeasedUrl,
  settings: Pick<IngestSettings, 'source' | 'images'>,
  storeRestMs: number,
): RowEnd | null {
  if (row.kind !== 'image') return null;
  // What a person asks for is stored whatever the sources say.
  if (row.origin !== 'manual' && imageModeOf(settings) !== 'store')
    return ended(row, {
      status: 'dead',
      dueInMs: null,
      tries: row.tries,
      errorCode: 'images_off',
      errorText: 'images of its source are no longer stored',
    });
  return storeRestMs > 0 ? concludeUnstored(row, 'the image store is in trouble', storeRestMs) : null;
}

/** The end of an image that the store did not take: not its fault, so it waits and keeps its tries. */
export function concludeUnstored(row: LeasedUrl, detail: string, waitMs: number): RowEnd {
  return ended(row, {
    status: 'failed',
    dueInMs: waitMs + decideBackoff(1) / 2,
    tries: row.tries,
    errorCode: 'image_store_unavailable',
    errorText: detail,
  });
}
