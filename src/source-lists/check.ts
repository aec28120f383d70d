import { resolveUrl } from '../url/index.ts';
import type { ListedChannel, ListedSource } from './model.ts';
import { checkSettings } from './settings.ts';

/** A publisher as checked, or why it cannot be one. */
export type Checked = { outcome: 'ok'; source: ListedSource } | { outcome: 'bad'; reason: string };

const mostChannels = 1000;
const mostName = 500;
// A slug is made of the name, with a number behind it where two are alike.
const mostSlug = 600;
const mostReason = 2000;

/** A field that does not fit; caught where the entry is put together, so that every check can be one expression. */
class Unfit extends Error {}

/** Reads one entry of a JSON list: an address alone, or an object with the fields of a source. Never throws. */
export function checkEntry(value: unknown): Checked {
  try {
    if (typeof value === 'string')
      return { outcome: 'ok', source: { url: siteAddress(value), channels: [] } };
    if (value === null || typeof value !== 'object' || Array.isArray(value))
      throw new Unfit('neither an address nor an object');
    return { outcome: 'ok', source: sourceOf(value as Fields) };
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    return { outcome: 'bad', reason: error.message };
  }
}

type Fields = Readonly<Record<string, unknown>>;

function sourceOf(fields: Fields): ListedSource {
  const channels = channelsOf(fields);
  const given = fields.url ?? fields.site_url;
  // A list may name nothing but a feed: then the feed's address stands for its publisher.
  const url = given === undefined || given === null ? channels[0]?.url : siteAddress(given);
  if (url === undefined) throw new Unfit('it has no url');
  return {
    url,
    channels,
    ...optional('name', textOf(fields, 'name', mostName)),
    ...optional('slug', slugOf(fields)),
    ...optional('enabled', booleanOf(fields, 'enabled')),
    ...optional('disableReason', textOf(fields, 'disable_reason', mostReason)),
    ...optional('ingestionMode', wordOf(fields, 'ingestion_mode', ['feed', 'spider', 'both'])),
    ...optional('feedPollIntervalMinutes', numberOf(fields, 'feed_poll_interval_minutes', 1, 43_200)),
    ...optional('priority', numberOf(fields, 'priority', 1, 10)),
    ...optional('rateLimitMs', numberOf(fields, 'rate_limit_ms', 0, 86_400_000)),
    ...optional('settings', settingsOf(fields)),
  };
}

function channelsOf(fields: Fields): ListedChannel[] {
  const listed = fields.channels ?? [];
  if (!Array.isArray(listed)) throw new Unfit('channels is no list');
  if (listed.length > mostChannels) throw new Unfit(`it has more than ${mostChannels} channels`);
  const channels = listed.map((one: unknown) => {
    if (one === null || typeof one !== 'object') throw new Unfit('a channel is no object');
    return channelOf(one as Fields);
  });
  for (const [field, kind] of [
    ['feed_url', 'feed'],
    ['sitemap_url', 'sitemap'],
  ] as const) {
    const url = fields[field];
    if (url !== undefined && url !== null) channels.push({ kind, url: siteAddress(url) });
  }
  return channels;
}

function channelOf(fields: Fields): ListedChannel {
  return {
    kind: wordOf(fields, 'kind', ['feed', 'sitemap', 'page']) ?? 'feed',
    url: siteAddress(fields.url),
    ...optional('title', textOf(fields, 'title', mostName)),
    ...optional('enabled', booleanOf(fields, 'enabled')),
    ...optional('intervalSeconds', numberOf(fields, 'interval_seconds', 30, 2_592_000)),
    ...optional('foundBy', wordOf(fields, 'found_by', ['manual', 'link', 'path', 'robots', 'archive'])),
  };
}

const optional = <N extends string, T>(name: N, value: T | undefined): { [K in N]?: T } =>
  value === undefined ? {} : ({ [name]: value } as { [K in N]?: T });

/**
 * The address a person means; people write example.com, and example.com:8080, which a URL parser takes for a scheme. A
 * path is left as it is: with a scheme before it, its first folder would be a host.
 */
export function withScheme(text: string): string {
  const plain = text
    .trim()
    .replace(/^feed:(?:\/\/(?!https?:))?/i, (prefix) => (prefix.endsWith('/') ? 'http://' : ''));
  return /^(?:[a-z][a-z0-9+.-]*:(?!\d)|\/(?!\/))/i.test(plain) ? plain : `https://${plain}`;
}

/** A word alone is a slip of the pen far more often than a host; one that is meant can be given with its scheme. */
export const isWordAlone = (text: string): boolean => !/[.:/[]/.test(text);

function siteAddress(value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '') throw new Unfit('it has no url');
  const text = value.trim();
  const href = text.length > 2048 || /\s/.test(text) ? null : resolveUrl(withScheme(text));
  if (href === null || !/^https?:/.test(href))
    throw new Unfit(`"${text.slice(0, 100)}" is not a web address`);
  if (isWordAlone(text)) throw new Unfit(`"${text.slice(0, 100)}" is not a web address`);
  return href;
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

function textOf(fields: Fields, name: string, most: number): string | undefined {
  const value = fields[name];
  if (!isGiven(value)) return undefined;
  if (typeof value !== 'string') throw new Unfit(`${name} is no text`);
  // Names are shown in one line; a NUL could not even be stored.
  const text = value.replace(/[\u0000-\u001f\u007f]+/g, ' ').trim();
  if (text.length > most) throw new Unfit(`${name} is longer than ${most} characters`);
  return text === '' ? undefined : Buffer.from(text, 'utf8').toString('utf8');
}

function slugOf(fields: Fields): string | undefined {
  const slug = textOf(fields, 'slug', mostSlug);
  if (slug !== undefined && !/^[a-z0-9_]+$/.test(slug)) throw new Unfit('slug may hold a-z, 0-9 and _ only');
  return slug;
}

function booleanOf(fields: Fields, name: string): boolean | undefined {
  const value = fields[name];
  if (!isGiven(value)) return undefined;
  if (typeof value === 'boolean') return value;
  const word = String(value).toLowerCase();
  if (/^(true|yes|on|1)$/.test(word)) return true;
  if (/^(false|no|off|0)$/.test(word)) return false;
  throw new Unfit(`${name} is neither true nor false`);
}

function numberOf(fields: Fields, name: string, least: number, most: number): number | undefined {
  const value = fields[name];
  if (!isGiven(value)) return undefined;
  const number = typeof value === 'number' ? value : Number(String(value).trim());
  if (!Number.isInteger(number) || number < least || number > most)
    throw new Unfit(`${name} is no whole number from ${least} to ${most}`);
  return number;
}

function wordOf<const W extends string>(fields: Fields, name: string, words: readonly W[]): W | undefined {
  const value = fields[name];
  if (!isGiven(value)) return undefined;
  const word = words.find((one) => one === String(value).trim().toLowerCase());
  if (word === undefined) throw new Unfit(`${name} is none of ${words.join(', ')}`);
  return word;
}

function settingsOf(fields: Fields): Record<string, unknown> | undefined {
  let value = fields.settings;
  if (!isGiven(value)) return undefined;
  // A spreadsheet has them as text.
  if (typeof value === 'string') {
    try {
      value = JSON.parse(value);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new Unfit('settings is no JSON');
    }
  }
  const checked = checkSettings(value);
  if (checked.outcome === 'bad') throw new Unfit(checked.reason);
  return checked.settings;
}
