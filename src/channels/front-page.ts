import type { Queryable } from '../db/index.ts';
import { type SubmitItem, submit } from '../frontier/index.ts';
import type { Source } from '../sources/index.ts';

type Followed = Pick<Source, 'id' | 'url' | 'priority'>;

/**
 * The row from which a source is followed by its links. `isNew`: it is from now on, and is read now although it may have
 * been read before, by another source or by this one before it was deleted; its job's first run is hours away.
 */
export const frontPageRow = ({ id, url, priority }: Followed, isNew: boolean): SubmitItem => ({
  url,
  kind: 'listing',
  origin: 'manual',
  sourceId: id,
  priority,
  own: true,
  ...(isNew ? { refetchBefore: new Date() } : {}),
});

/** Reads the front page of a source that is followed by its links from now on. */
export async function submitFrontPage(db: Queryable, source: Followed): Promise<void> {
  await submit(db, [frontPageRow(source, true)]);
}
