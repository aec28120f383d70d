import { plural, wordsOf } from '../../parts/format.ts';

/** The states of a URL, in the order it may go through them. */
export const statuses = [
  'pending',
  'fetched',
  'failed',
  'needs_render',
  'redirected',
  'duplicate',
  'dead',
] as const;
export type Status = (typeof statuses)[number];

/** What each state means, for whoever meets the word first here. */
export const statusMeanings: Readonly<Record<Status, string>> = {
  pending: 'waits for its turn',
  fetched: 'was fetched',
  failed: 'will be tried again',
  needs_render: 'needs JavaScript to show its text',
  redirected: 'leads to another URL',
  duplicate: 'has the text of another URL',
  dead: 'was given up',
};

/** Who may have brought a URL. */
export const origins = [
  'feed',
  'sitemap',
  'push',
  'spider',
  'archive',
  'refresh',
  'redirect',
  'manual',
] as const;
/** What a URL may be; polls and probes are shown only when they are asked for. */
export const kinds = ['article', 'listing', 'image', 'channel', 'probe'] as const;

// Codes that are met most; any other can be typed.
export const errorCodes = [
  'not_found',
  'gone',
  'forbidden',
  'robots_blocked',
  'max_retries',
  'timeout',
  'server_error',
  'rate_limited',
  'dns',
  'connect',
  'tls',
  'soft_404',
  'too_short',
  'no_text',
  'unsupported_type',
  'redirect_loop',
  'crash_loop',
  'removed',
] as const;

const refusalWords: Readonly<Record<string, string>> = {
  probe: 'probes end by themselves',
  channel: 'polls of channels',
  channel_gone: 'their channel was removed',
  source_gone: 'their source was deleted',
  held: 'their source is disabled',
  in_flight: 'being fetched right now',
};
const outcomeWords: Readonly<Record<string, string>> = {
  retried: 'retried',
  removed: 'removed',
  changed: 'changed',
  unchanged: 'unchanged',
  unknown: 'not known any more',
};

/** What a bulk action came to, in a sentence. */
export function outcomeText(outcomes: Readonly<Record<string, number>>): string {
  const parts = Object.entries(outcomes).map(([name, count]) => {
    const refused = name.startsWith('refused:') ? name.slice('refused:'.length) : null;
    return refused === null
      ? `${plural(count, 'URL')} ${outcomeWords[name] ?? wordsOf(name)}`
      : `${plural(count, 'URL')} left alone (${refusalWords[refused] ?? wordsOf(refused)})`;
  });
  return parts.length === 0 ? 'No URL matched.' : `${parts.join(', ')}.`;
}

/** Whether a due time says that a row is held: those lie a thousand years ahead. */
export const isHeld = (dueAt: string | null): boolean =>
  dueAt !== null && new Date(dueAt).getFullYear() - new Date().getFullYear() > 500;
