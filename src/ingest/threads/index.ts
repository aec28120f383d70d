import type { Ingested, IngestSettings, PageResponse } from '../response.ts';
import type { Task } from './message.ts';
import { ReaderThread } from './reader-thread.ts';

// Our own parsers and extractor are linear: 5,000 paragraphs of this size together hold the main thread for 0.1 to 0.3 s.
const mainPageBytes = 512 * 1024;
const mainChannelBytes = 1024 * 1024;
const deadlineMs = 2000;
// Channels may have 50 MB, of which this reads 5 to 30 a second on a free core and a fifth of that on a busy one: a fixed
// deadline would be one on their size.
const channelBytesPerMs = 1000;

/** Where a response is read: on this thread only what takes linear time in a small input. */
export function decideReader(response: PageResponse, settings: IngestSettings): 'here' | 'thread' {
  const bytes = response.body.length;
  // A picture's pixels are counted before they are decoded, but many are allowed.
  if (response.row.kind === 'image') return 'thread';
  if (response.row.kind === 'channel')
    return bytes > mainChannelBytes || hasPatterns(settings) ? 'thread' : 'here';
  return bytes > mainPageBytes || hasUserRules(settings) ? 'thread' : 'here';
}

/** Selectors and patterns that somebody typed in: nobody knows what they cost on the next page. */
function hasUserRules({ source }: IngestSettings): boolean {
  if (source === null) return false;
  const { selectors, articleUrlPatterns = [] } = source.settings;
  if (selectors !== undefined && Object.keys(selectors).length > 0) return true;
  return source.ingestionMode !== 'feed' && (hasPatterns({ source }) || articleUrlPatterns.length > 0);
}

/** What a source lets in and leaves out, of links and of what its channels name. */
function hasPatterns({ source }: Pick<IngestSettings, 'source'>): boolean {
  const { include = [], exclude = [] } = source?.settings ?? {};
  return include.length + exclude.length > 0;
}

const thread = new ReaderThread();

/** Reads a response on the other thread of this process; too slow or too big is an outcome. */
export function readInThread(
  response: PageResponse,
  settings: IngestSettings,
  task: Task,
): Promise<Ingested> {
  const extraMs = response.row.kind === 'channel' ? Math.round(response.body.length / channelBytesPerMs) : 0;
  return thread.read(response, settings, { task, deadlineMs: deadlineMs + extraMs });
}
