import { Type } from 'typebox';
import type { ChannelStatus, Pace, PushState } from '../channels/index.ts';
import { answer, count, date, dueDate, oneOf, orNull, serial, strict } from './schemas.ts';

/** What a channel can be. */
export const kinds = ['feed', 'sitemap', 'page'] as const;
/** A channel by its number. */
export const named = Type.Object({ id: serial }, strict);
/** How often a channel is polled. */
export const intervalSeconds = Type.Integer({ minimum: 30, maximum: 2_592_000 });

const pushShape = answer({
  channelId: serial,
  hub: Type.String(),
  state: Type.String(),
  leaseUntil: orNull(date),
  pushes: count,
  items: count,
  unsigned: count,
  unreadable: count,
  lastPushAt: orNull(date),
  nextAt: date,
  error: orNull(Type.String()),
});

/** The fields of a channel. */
export const channelFields = {
  id: serial,
  sourceId: serial,
  sourceSlug: Type.String(),
  sourceName: Type.String(),
  kind: oneOf(kinds),
  url: Type.String(),
  enabled: Type.Boolean(),
  intervalSeconds,
  paceSeconds: Type.Integer({
    minimum: 0,
    description: 'between polls as things stand: what was learnt and what its publisher asks for counted in',
  }),
  foundBy: oneOf(['manual', 'link', 'path', 'robots', 'index', 'archive'] as const),
  takesAll: Type.Boolean({ description: 'its first read takes everything it lists, however old' }),
  title: orNull(Type.String()),
  parentId: orNull(serial),
  depth: count,
  failingForMs: orNull(Type.Number()),
  errorsInRow: count,
  errorKind: orNull(Type.String()),
  asleep: Type.Boolean(),
  sleepReason: orNull(Type.String()),
  redirectTo: orNull(Type.String()),
  redirects: count,
  floorSeconds: orNull(count),
  lastSuccessAt: orNull(date),
  pushed: Type.Boolean(),
  polls: count,
  notModified: count,
  itemsSeen: count,
  itemsNew: count,
  dueAt: orNull(dueDate),
  delaySeconds: orNull(Type.Number()),
  delayedItems: count,
  lateSeconds: orNull(Type.Number()),
  push: orNull(pushShape),
};
/** A channel with how its polls went. */
export const channelShape = answer(channelFields);
/** What was added, or was there. */
export const addedShape = answer({ ...channelFields, created: Type.Boolean() });

/** A channel as it is answered. */
export function shownChannel(channel: ChannelStatus, pace: Pace, push: PushState | null) {
  const { hash: _hash, rhythm: _rhythm, polls, notModified, itemsSeen, itemsNew, ...rest } = channel;
  return {
    ...rest,
    ...pace,
    polls: Number(polls),
    notModified: Number(notModified),
    itemsSeen: Number(itemsSeen),
    itemsNew: Number(itemsNew),
    push,
  };
}
