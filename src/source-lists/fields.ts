import type { ListedChannel, ListedSource } from './model.ts';

/** A source as files spell it: the names of its fields in snake case, channels in a list. */
export function sourceFields(source: ListedSource): Record<string, unknown> {
  return {
    url: source.url,
    name: source.name,
    slug: source.slug,
    enabled: source.enabled,
    disable_reason: source.disableReason ?? undefined,
    ingestion_mode: source.ingestionMode,
    feed_poll_interval_minutes: source.feedPollIntervalMinutes,
    priority: source.priority,
    rate_limit_ms: source.rateLimitMs ?? undefined,
    settings: Object.keys(source.settings ?? {}).length === 0 ? undefined : source.settings,
    channels: source.channels.length === 0 ? undefined : source.channels.map(channelFields),
  };
}

function channelFields(channel: ListedChannel): Record<string, unknown> {
  return {
    kind: channel.kind,
    url: channel.url,
    title: channel.title ?? undefined,
    enabled: channel.enabled,
    interval_seconds: channel.intervalSeconds,
    found_by: channel.foundBy,
  };
}

/** Columns of a table that has one row for each channel, and one for a source without any. */
export const sourceColumns = [
  'url',
  'name',
  'slug',
  'enabled',
  'disable_reason',
  'ingestion_mode',
  'feed_poll_interval_minutes',
  'priority',
  'rate_limit_ms',
  'settings',
] as const;
export const channelColumns = ['kind', 'url', 'title', 'enabled', 'interval_seconds', 'found_by'] as const;

/** The rows of a source: by column, all as text; channel columns have the prefix `channel_`. */
export function sourceRows(source: ListedSource): Map<string, string>[] {
  const { channels, ...fields } = sourceFields(source);
  const own = new Map(Object.entries(fields).flatMap(([name, value]) => cell(name, value)));
  if (source.channels.length === 0) return [own];
  return (channels as Record<string, unknown>[]).map(
    (channel) =>
      new Map([
        ...own,
        ...Object.entries(channel).flatMap(([name, value]) => cell(`channel_${name}`, value)),
      ]),
  );
}

function cell(name: string, value: unknown): [string, string][] {
  if (value === undefined) return [];
  return [[name, typeof value === 'object' ? JSON.stringify(value) : String(value)]];
}

/** The fields of a source from one row of a table; empty cells count as absent. */
export function fieldsOfRow(row: ReadonlyMap<string, string>): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const channel: Record<string, unknown> = {};
  for (const [name, value] of row) {
    if (value.trim() === '') continue;
    if (name.startsWith('channel_')) channel[name.slice(8)] = value;
    else fields[name] = value;
  }
  if (Object.keys(channel).length > 0) fields.channels = [channel];
  else delete fields.channels;
  return fields;
}
