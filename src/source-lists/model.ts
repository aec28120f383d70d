/** How a list of sources is written in a file. */
export const listFormats = ['opml', 'csv', 'json', 'ndjson', 'lines'] as const;
export type ListFormat = (typeof listFormats)[number];

/** A channel as a list names it; what is left out is decided by whoever adds it. */
export type ListedChannel = {
  kind: 'feed' | 'sitemap' | 'page';
  url: string;
  title?: string | null;
  enabled?: boolean;
  intervalSeconds?: number;
  foundBy?: 'manual' | 'link' | 'path' | 'robots' | 'archive';
};

/** A publisher as a list names it: at least its address. */
export type ListedSource = {
  url: string;
  name?: string;
  slug?: string;
  enabled?: boolean;
  disableReason?: string | null;
  ingestionMode?: 'feed' | 'spider' | 'both';
  feedPollIntervalMinutes?: number;
  priority?: number;
  rateLimitMs?: number | null;
  settings?: Record<string, unknown>;
  channels: ListedChannel[];
};

/** One entry of a list: a publisher, or what nobody can use, with the line it ends on. */
export type ListEntry =
  | { outcome: 'source'; line: number; source: ListedSource }
  | { outcome: 'bad'; line: number; reason: string; text: string };

// A list of a million feeds has some 100 MB; one entry with all its settings and channels some kilobytes.
export const mostEntryChars = 1_000_000;
export const mostEntries = 1_000_000;
const mostQuoted = 300;

/** An entry nobody can use, with the beginning of its text. Copied: a slice would keep the whole chunk alive. */
export function badEntry(line: number, reason: string, text: string): ListEntry {
  return { outcome: 'bad', line, reason, text: Buffer.from(text.slice(0, mostQuoted)).toString() };
}
