import type { Answer, Item } from '../../api/client.ts';
import type { Tone } from '../../parts/tones.ts';

/** A source as lists have it. */
export type SourceItem = Item<'listSources'>;
/** A source with the last search for its feeds. */
export type SourceCard = Answer<'getSource'>;

/** How a source is followed, in the words of its settings. */
export const modeWords: Readonly<Record<SourceItem['ingestionMode'], string>> = {
  feed: 'feeds',
  spider: 'links',
  both: 'feeds + links',
};

/** What each mode means. */
export const modeHints: Readonly<Record<SourceItem['ingestionMode'], string>> = {
  feed: 'Its feeds and sitemaps are polled, and what they name is fetched.',
  spider: 'Its pages are read and their links followed; feeds are not polled.',
  both: 'Its feeds are polled, and links on its pages are followed as well.',
};

const tones: Readonly<Record<SourceItem['status'], Tone>> = {
  ok: 'ok',
  failing: 'fail',
  empty: 'warn',
  searching: 'info',
  disabled: 'quiet',
};

/** How a source does. */
export const sourceState = ({ status }: Pick<SourceItem, 'status'>): { tone: Tone; word: string } => ({
  tone: tones[status],
  word: status === 'empty' ? 'nothing to poll' : status,
});
