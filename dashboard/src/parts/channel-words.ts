import type { Item } from '../api/client.ts';
import { spanText, wordsOf } from './format.ts';
import { shortAddress } from './readable.ts';
import type { Tone } from './tones.ts';

/** A channel as lists have it. */
export type ChannelItem = Item<'listChannels'>;

/** How a channel does: what an operator decided comes before what was met. */
export function channelState(channel: ChannelItem): { tone: Tone; word: string } {
  if (!channel.enabled) return { tone: 'quiet', word: 'disabled' };
  if (channel.asleep) return { tone: 'fail', word: 'asleep' };
  if (channel.errorsInRow > 0) return { tone: 'fail', word: 'failing' };
  if (channel.polls === 0) return { tone: 'info', word: 'not polled yet' };
  return { tone: 'ok', word: 'ok' };
}

/** What went wrong, for how long and how often; null: nothing. */
export function troubleText({ errorsInRow, errorKind, failingForMs }: ChannelItem): string | null {
  if (errorsInRow === 0) return null;
  const why = errorKind === null ? 'it fails' : wordsOf(errorKind);
  const since = failingForMs === null ? '' : ` for ${spanText(failingForMs / 1000)}`;
  return `${why}${since}, ${errorsInRow === 1 ? 'once' : `${errorsInRow} times`} in a row`;
}

/** What a channel is called: its title, or its address. */
export const channelName = ({ title, url }: Pick<ChannelItem, 'title' | 'url'>): string =>
  title === null || title.trim() === '' ? shortAddress(url) : title;

/** How often it is polled now, where that is not what it was given; null: as given, or nearly. */
export function paceText({ intervalSeconds, paceSeconds }: ChannelItem): string | null {
  const isNear = Math.abs(paceSeconds - intervalSeconds) <= intervalSeconds * 0.1;
  const text = spanText(paceSeconds);
  return isNear || text === spanText(intervalSeconds) ? null : `now about ${text}`;
}

/** The subscription at a hub in a few words; null: there is none. */
export const pushText = ({ push, pushed }: ChannelItem): string | null =>
  push === null ? null : pushed ? 'pushed by its hub' : `push: ${wordsOf(push.state)}`;

/** How a channel was found. */
export const foundTexts: Readonly<Record<ChannelItem['foundBy'], string>> = {
  manual: 'named by somebody',
  link: 'linked from a page',
  path: 'found at a usual address',
  robots: 'named by robots.txt',
  index: 'named by a sitemap index',
  archive: 'found while archives were looked for',
};
