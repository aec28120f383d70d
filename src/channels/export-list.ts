import type { Queryable } from '../db/index.ts';
import type { ListedChannel, ListedSource } from '../source-lists/index.ts';
import { listSources } from '../sources/index.ts';

const pageSize = 1000;

/** Every source with its settings and channels, in the order they were added, a page of them in memory at a time. */
export async function* exportSources(db: Queryable): AsyncGenerator<ListedSource> {
  for (let afterId = 0; ; ) {
    const sources = await listSources(db, { limit: pageSize, afterId });
    const channels = await loadListedChannels(
      db,
      sources.map((one) => one.id),
    );
    for (const source of sources)
      yield {
        url: source.url,
        name: source.name,
        slug: source.slug,
        enabled: source.enabled,
        disableReason: source.disableReason,
        ingestionMode: source.ingestionMode,
        feedPollIntervalMinutes: source.feedPollIntervalMinutes,
        priority: source.priority,
        rateLimitMs: source.rateLimitMs,
        settings: source.settings,
        channels: channels.get(source.id) ?? [],
      };
    const last = sources.at(-1);
    if (last === undefined) return;
    afterId = last.id;
  }
}

/** Without the files that a sitemap index names: they come back with the index. */
async function loadListedChannels(
  db: Queryable,
  ids: readonly number[],
): Promise<Map<number, ListedChannel[]>> {
  const result = await db.query<Required<ListedChannel> & { sourceId: number }>(
    `SELECT source_id AS "sourceId", kind, url, title, enabled, interval_seconds AS "intervalSeconds", found_by AS "foundBy"
       FROM channels WHERE source_id = ANY ($1) AND parent_id IS NULL ORDER BY id`,
    [ids],
  );
  const bySource = new Map<number, ListedChannel[]>();
  for (const { sourceId, ...channel } of result.rows) {
    const list = bySource.get(sourceId);
    if (list === undefined) bySource.set(sourceId, [channel]);
    else list.push(channel);
  }
  return bySource;
}
