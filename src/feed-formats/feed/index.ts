import { constants, gunzipSync } from 'node:zlib';
import { decodeBytes } from '../../text/index.ts';
import { createYielder } from '../turns.ts';
import { parseJsonFeed } from './json.ts';
import type { FeedOptions, FeedResult } from './model.ts';
import { FeedReader } from './reader.ts';
import { resolveBase } from './values.ts';

export type { Enclosure, Feed, FeedEntry, FeedOptions, FeedResult, NotAFeedReason } from './model.ts';

const defaultMaxEntries = 50_000;
// The limit of a feed's body (spec: 16 MB) holds for its unpacked form too.
const maxUnpackedBytes = 16 * 1024 * 1024;

// What runs between two looks at the clock: 64 kB of the worst text take a few milliseconds.
const pieceChars = 65_536;

/**
 * Reads a feed of any format: RSS 0.9x to 2.0, RDF, Atom 0.3 and 1.0, CDF, JSON Feed, RSS-in-JSON. Never throws on
 * any bytes; a damaged feed gives the entries before the damage.
 */
export function parseFeed(body: Uint8Array, options: FeedOptions = {}): FeedResult {
  const opened = openFeed(body, options);
  if ('outcome' in opened) return opened;
  opened.reader.write(opened.text);
  return closeFeed(opened.reader);
}

/** The same, giving way to the event loop every 10 ms: 16 MB that mean harm take seconds. */
export async function readFeed(body: Uint8Array, options: FeedOptions = {}): Promise<FeedResult> {
  const opened = openFeed(body, options);
  if ('outcome' in opened) return opened;
  const { reader, text } = opened;
  const yielder = createYielder();
  for (let at = 0; at < text.length && reader.stopped === null; at += pieceChars) {
    reader.write(text.slice(at, at + pieceChars));
    await yielder();
  }
  return closeFeed(reader);
}

/** The text and its reader; the result itself where it is JSON, or nothing. */
function openFeed(body: Uint8Array, options: FeedOptions): FeedResult | { reader: FeedReader; text: string } {
  const { text } = decodeBytes(unpack(body), { contentType: options.contentType, kind: 'xml' });
  const url = options.url === undefined ? null : resolveBase(options.url, null);
  const maxEntries = options.maxEntries ?? defaultMaxEntries;
  const start = /\S/.exec(text);
  if (!start) return { outcome: 'not_a_feed', reason: 'empty', detail: 'the document has no text' };
  if (start[0] === '{' || start[0] === '[') {
    const result = parseJsonFeed(text, { url, maxEntries });
    // A brace may also be junk a broken program printed before its XML.
    if (result.outcome === 'feed' || !/<(?:rss|feed|rdf)\b/i.test(text.slice(0, 10_000))) return result;
  }
  return { reader: new FeedReader({ url, maxEntries }), text };
}

function closeFeed(reader: FeedReader): FeedResult {
  reader.end();
  return resultOf(reader);
}

// Some servers send .gz files as they are, or compress twice; the fetcher has undone what the headers said.
function unpack(body: Uint8Array): Uint8Array {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body;
  try {
    // A cut file keeps what came before the cut.
    return gunzipSync(body, { maxOutputLength: maxUnpackedBytes, finishFlush: constants.Z_SYNC_FLUSH });
  } catch (error) {
    // Not gzip after all, or a bomb: zlib says so only by throwing, and the bytes as they are give a clear outcome.
    if (!(error instanceof Error)) throw error;
    return body;
  }
}

function resultOf(reader: FeedReader): FeedResult {
  const { feed, stopped, rootName } = reader;
  // Depth alone does not undo what was read before it.
  if (feed && (stopped !== 'too_deep' || feed.entries.length > 0)) return { outcome: 'feed', feed };
  if (stopped === 'too_deep')
    return { outcome: 'not_a_feed', reason: 'too_deep', detail: 'elements are nested more than 512 deep' };
  if (stopped === 'html')
    return { outcome: 'not_a_feed', reason: 'html', detail: 'the document is an HTML page' };
  const detail =
    rootName === null ? 'the document has no elements' : `the root element is <${rootName.slice(0, 60)}>`;
  return { outcome: 'not_a_feed', reason: 'unknown_format', detail };
}
