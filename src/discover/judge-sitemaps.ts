import { type ArchiveEnd, type ArchiveTry, judgeSitemap } from '../archives/index.ts';
import { loadChannels, loadMoved } from '../channels/index.ts';
import type { Queryable } from '../db/index.ts';

/** How a sitemap that was asked stands; null: it has not ended. */
export type JudgedSitemap = {
  end: ArchiveEnd | null;
  /** The channel that was made for it and goes when it failed. */
  removes: number | null;
};

/** How sitemaps that were asked stand, by the hex of their hashes; one without a channel is left out. */
export async function judgeSitemaps(
  db: Queryable,
  tries: readonly ArchiveTry[],
  now: Date,
): Promise<Map<string, JudgedSitemap>> {
  const hashes = tries.map(({ hash }) => hash);
  if (hashes.length === 0) return new Map();
  const channels = new Map((await loadChannels(db, hashes)).map((one) => [one.hash.toString('hex'), one]));
  const moved = await loadMoved(db, hashes);
  const judged = new Map<string, JudgedSitemap>();
  for (const { hash, askedAt } of tries) {
    const key = hash.toString('hex');
    const channel = channels.get(key) ?? moved.get(key);
    if (channel === undefined) continue;
    const { errorKind, errorsInRow, lastSuccessAt } = channel;
    const end = judgeSitemap(
      { isRead: lastSuccessAt !== null, errorKind, errorsInRow },
      now.getTime() - askedAt.getTime(),
    );
    judged.set(key, { end, removes: channel.foundBy === 'archive' ? channel.id : null });
  }
  return judged;
}
