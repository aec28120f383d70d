import { type Counted, countedUpTo, mostCounted, type Queryable } from '../db/index.ts';
import { loadSources, type Source } from '../sources/index.ts';
import { saveAudit } from '../switches/index.ts';
import type { Channel } from './channels.ts';
import type { ChannelFilter } from './list-sources.ts';
import { findChannel, pollChannel, setChannelEnabled, wakeChannel } from './operate.ts';
import { type ChannelPlace, pageChannels } from './page-channels.ts';

/** What a person may do with many channels: poll them, or forget their errors as well. */
export const channelActions = ['poll', 'reset'] as const;
export type ChannelAction = (typeof channelActions)[number];

/** Why a poll of a channel would not happen. */
export type PollRefusal = 'disabled' | 'source_disabled' | 'links_only';

/** What stands in the way of a poll; null: nothing. Woken all the same, a held row would lose its hold. */
export function refusalOf(channel: Channel, source: Source | undefined): PollRefusal | null {
  if (!channel.enabled) return 'disabled';
  if (source?.enabled === false) return 'source_disabled';
  return source?.ingestionMode === 'spider' ? 'links_only' : null;
}

/** What became of each channel. */
export type ChannelOutcome = 'polled' | 'reset' | `refused:${PollRefusal | 'no_row'}`;

/** Which channels are meant, besides that their polls fail. */
export type FailingFilter = Pick<ChannelFilter, 'kind' | 'files'> & { sourceId?: number };

/** What one portion came to; a place means that there may be more. */
export type PortionOutcome = {
  matched: number;
  outcomes: Partial<Record<ChannelOutcome, number>>;
  next: ChannelPlace | null;
};

/**
 * Polls up to `limit` channels that fail as soon as their domains may be asked, each in a transaction of its own, and
 * writes down who did it. A dry run answers the same and changes nothing. Index: channel_state_trouble.
 */
export async function actOnFailing(
  db: Queryable,
  filter: FailingFilter,
  act: {
    action: ChannelAction;
    actor: string;
    limit: number;
    after?: ChannelPlace;
    dryRun?: boolean;
    /** The filter in the words of who gave it. */
    shown: object;
  },
): Promise<PortionOutcome> {
  const { action, limit, after, dryRun = false } = act;
  const { rows, next } = await pageChannels(db, {
    ...filter,
    failing: true,
    limit,
    ...(after === undefined ? {} : { after }),
  });
  const sources = new Map(
    (await loadSources(db, [...new Set(rows.map((row) => row.sourceId))])).map((source) => [
      source.id,
      source,
    ]),
  );
  const outcomes: PortionOutcome['outcomes'] = {};
  for (const row of rows) {
    const refusal = refusalOf(row, sources.get(row.sourceId));
    const outcome = refusal === null ? await wake(db, row, action, dryRun) : (`refused:${refusal}` as const);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  if (rows.length > 0 && !dryRun)
    await saveAudit(db, {
      actor: act.actor,
      action: `channels_${action}`,
      subject: 'channels',
      detail: { filter: act.shown, outcomes },
    });
  return { matched: rows.length, outcomes, next };
}

async function wake(
  db: Queryable,
  { id, dueAt }: { id: number; dueAt?: Date | null },
  action: ChannelAction,
  dryRun: boolean,
): Promise<ChannelOutcome> {
  const isWoken = dryRun ? dueAt != null : await (action === 'poll' ? pollChannel : wakeChannel)(db, id);
  if (!isWoken) return 'refused:no_row';
  return action === 'poll' ? 'polled' : 'reset';
}

/** What became of a channel that was named. */
export type NamedOutcome = ChannelOutcome | 'enabled' | 'disabled' | 'refused:unknown';

/** The same to channels that are named, each in a transaction of its own; writes down for each who did it. */
export async function actOnNamed(
  db: Queryable,
  ids: readonly number[],
  { action, actor }: { action: ChannelAction | 'enable' | 'disable'; actor: string },
): Promise<Partial<Record<NamedOutcome, number>>> {
  const outcomes: Partial<Record<NamedOutcome, number>> = {};
  for (const id of ids) {
    const channel = await findChannel(db, id);
    const outcome = channel === null ? 'refused:unknown' : await actOn(db, channel, action);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    if (channel !== null && !outcome.startsWith('refused:'))
      await saveAudit(db, {
        actor,
        action: `channel_${action}`,
        subject: String(id),
        detail: { url: channel.url },
      });
  }
  return outcomes;
}

async function actOn(
  db: Queryable,
  channel: Channel,
  action: ChannelAction | 'enable' | 'disable',
): Promise<NamedOutcome> {
  if (action === 'enable' || action === 'disable') {
    await setChannelEnabled(db, channel.id, action === 'enable');
    return `${action}d`;
  }
  const refusal = refusalOf(channel, (await loadSources(db, [channel.sourceId]))[0]);
  return refusal === null ? wake(db, channel, action, false) : `refused:${refusal}`;
}

/** How many channels fail, counted up to ten thousand. Index: channel_state_trouble. */
export async function countFailing(db: Queryable, filter: FailingFilter): Promise<Counted> {
  const result = await db.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM (
       SELECT FROM channel_state s JOIN channels c ON c.id = s.channel_id AND c.bucket = s.bucket
        WHERE s.errors_in_row > 0 AND ($1::integer IS NULL OR c.source_id = $1) AND ($2::text IS NULL OR c.kind = $2)
          AND ($3::boolean OR c.parent_id IS NULL) LIMIT ${mostCounted + 1}) x`,
    [filter.sourceId ?? null, filter.kind ?? null, filter.files ?? false],
  );
  return countedUpTo(result.rows[0]!.count);
}
