import {
  type ChannelStatus,
  findNamedChannel,
  listChannels,
  loadPushStates,
  type PushState,
} from '../channels/index.ts';
import type { Queryable } from '../db/index.ts';
import type { IngestionMode } from '../sources/index.ts';
import { identifyUrl } from '../url/index.ts';
import { loadUrlFacts, type UrlFacts } from './load-url.ts';

/** Everything known about why a channel is polled, or is not. */
export type ChannelFacts = {
  channel: ChannelStatus;
  source: {
    slug: string;
    name: string;
    enabled: boolean;
    disableReason: string | null;
    ingestionMode: IngestionMode;
  };
  push: PushState | null;
  /** Of its poll, which is a row of the frontier like any other. */
  poll: UrlFacts;
};

/** Gathers the facts about a channel, by its number or an address that it has or had; null when there is none. */
export async function loadChannelFacts(
  db: Queryable,
  name: string,
  options: { defaultDelayMs: number; productToken: string },
): Promise<ChannelFacts | null> {
  const found = await findNamedChannel(db, name);
  if (found === null) return null;
  const [channel] = await listChannels(db, { ids: [found.id], files: true, limit: 1 });
  const identified = identifyUrl(found.url);
  const source = await db.query<ChannelFacts['source']>(
    'SELECT slug, name, enabled, disable_reason AS "disableReason", ingestion_mode AS "ingestionMode" FROM sources WHERE id = $1',
    [found.sourceId],
  );
  // Removed since it was found.
  if (channel === undefined || source.rows[0] === undefined || identified.outcome === 'rejected') return null;
  return {
    channel,
    source: source.rows[0],
    push: (await loadPushStates(db, [found.id])).get(found.id) ?? null,
    poll: await loadUrlFacts(db, identified.identity, { ...options, hash: found.hash }),
  };
}
