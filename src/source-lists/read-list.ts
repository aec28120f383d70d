import { type OpmlOutline, OpmlReader } from '../feed-formats/index.ts';
import { createDecoder } from '../text/index.ts';
import { checkEntry } from './check.ts';
import { readCsv } from './csv.ts';
import { detectFormat, findColumns } from './detect-format.ts';
import { fieldsOfRow } from './fields.ts';
import { readJsonItems } from './json-items.ts';
import { badEntry, type ListEntry, type ListFormat, mostEntries, mostEntryChars } from './model.ts';
import { readTextLines } from './text-lines.ts';

const headChars = 4096;
const mostAddress = 2100;

/**
 * Reads a list of publishers, of any size in bounded memory, entry by entry. What cannot be used comes as a bad entry
 * with its line, and the rest goes on; never throws unless the input itself does.
 */
export async function* readList(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: { format?: ListFormat | null } = {},
): AsyncGenerator<ListEntry> {
  const { head, text } = await openText(chunks);
  const format = options.format ?? detectFormat(head);
  let count = 0;
  for await (const entry of readers[format](text, head)) {
    count += 1;
    if (count > mostEntries) {
      yield badEntry(entry.line, `a list may have ${mostEntries} entries: split the file here`, '');
      return;
    }
    yield entry;
  }
}

type Text = AsyncGenerator<string>;

async function openText(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<{ head: string; text: Text }> {
  const source = decodeChunks(chunks);
  let head = '';
  while (head.length < headChars) {
    const next = await source.next();
    if (next.done) break;
    head += next.value;
  }
  const first = head;
  return {
    head: first.slice(0, headChars),
    text: (async function* () {
      if (first !== '') yield first;
      yield* source;
    })(),
  };
}

/** Text of any encoding; files of spreadsheets are seldom UTF-8. */
async function* decodeChunks(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Text {
  let decoder: ReturnType<typeof createDecoder> | null = null;
  for await (const chunk of chunks) {
    const isMarkup = /^[\s\u00ef\u00bb\u00bf]*</.test(Buffer.from(chunk.subarray(0, 100)).toString('latin1'));
    decoder ??= createDecoder(chunk, { kind: isMarkup ? 'xml' : 'text' });
    yield decoder.write(chunk);
  }
  if (decoder !== null) yield decoder.end();
}

const readers: Record<ListFormat, (text: Text, head: string) => AsyncGenerator<ListEntry>> = {
  lines: readAddresses,
  csv: readTable,
  json: readJson,
  ndjson: readJsonLines,
  opml: readOpml,
};

async function* readAddresses(text: Text): AsyncGenerator<ListEntry> {
  for await (const { line, text: content, cut } of readTextLines(text, mostAddress)) {
    // A "#" within an address begins its fragment, so a comment behind one needs a blank before it.
    const address = content
      .replace(/^\ufeff/, '')
      .replace(/(^|\s)#.*$/, '')
      .trim();
    if (address === '') continue;
    yield cut ? badEntry(line, 'too long for an address', address) : entryOf(line, address, address);
  }
}

async function* readTable(text: Text, head: string): AsyncGenerator<ListEntry> {
  const header = head.replace(/^\ufeff/, '').trimStart();
  const found = findColumns(/^[^\r\n]*/.exec(header)![0]);
  let names: string[] | null = null;
  const lines = readTextLines(text, mostEntryChars);
  for await (const record of readCsv(lines, { separator: found?.separator ?? ',', most: mostEntryChars })) {
    if (record.outcome === 'bad') yield badEntry(record.line, record.reason, record.text);
    else if (record.text.trim() === '') continue;
    else if (names === null) {
      if (found === null) {
        yield badEntry(record.line, 'the first line names no column url or feed_url', record.text);
        return;
      }
      names = record.cells.map((cell) => found.nameOf(cell.replace(/^\ufeff/, '')));
    } else {
      const row = new Map<string, string>();
      for (const [index, cell] of record.cells.entries()) {
        const name = names[index];
        if (name !== undefined && !row.has(name)) row.set(name, cell);
      }
      yield entryOf(record.line, fieldsOfRow(row), record.text);
    }
  }
}

async function* readJson(text: Text, head: string): AsyncGenerator<ListEntry> {
  const start = head.replace(/^\ufeff/, '').trimStart();
  const listDepth = start.startsWith('[') ? 1 : /^\{\s*"sources"\s*:\s*\[/.test(start) ? 2 : 0;
  for await (const item of readJsonItems(text, { listDepth, most: mostEntryChars }))
    yield item.outcome === 'bad'
      ? badEntry(item.line, item.reason, item.text)
      : jsonEntry(item.line, item.text);
}

async function* readJsonLines(text: Text): AsyncGenerator<ListEntry> {
  for await (const { line, text: content, cut } of readTextLines(text, mostEntryChars)) {
    const trimmed = content.replace(/^\ufeff/, '').trim();
    if (trimmed === '') continue;
    if (cut) {
      yield badEntry(line, `longer than ${mostEntryChars} characters`, trimmed);
      continue;
    }
    // Through the cutter as well, for its limit of depth; a line that is no JSON is no JSON either way.
    for await (const item of readJsonItems([trimmed], { listDepth: 0, most: mostEntryChars }))
      yield item.outcome === 'bad' ? badEntry(line, item.reason, item.text) : jsonEntry(line, item.text);
  }
}

function jsonEntry(line: number, text: string): ListEntry {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return badEntry(line, 'no JSON', text);
  }
  return entryOf(line, value, text);
}

async function* readOpml(text: Text): AsyncGenerator<ListEntry> {
  const found: ListEntry[] = [];
  let line = 0;
  let any = false;
  const reader = new OpmlReader(
    {
      onOutline: (outline) => void found.push(outlineEntry(line, outline)),
      onInvalid: (address) =>
        void found.push(badEntry(line, `"${address.slice(0, 100)}" is not a web address`, address)),
    },
    opmlPrefix,
  );
  const drain = function* (): Generator<ListEntry> {
    any ||= found.length > 0;
    yield* found.splice(0);
  };
  // Whole tags at a time, so that a tag is read once and its line is known.
  let piece: string[] = [];
  let chars = 0;
  let isOpen = false;
  for await (const next of readTextLines(text, mostEntryChars, pieceChars)) {
    line = next.line;
    piece.push(next.text, next.goesOn === true ? '' : '\n');
    chars += next.text.length + 1;
    const opens = next.text.lastIndexOf('<');
    const closes = next.text.lastIndexOf('>');
    if (opens !== closes) isOpen = opens > closes;
    if (isOpen && chars < pieceChars) continue;
    reader.push(piece.join(''));
    piece = [];
    chars = 0;
    yield* drain();
    if (next.cut) yield badEntry(line, `longer than ${mostEntryChars} characters; its rest was not read`, '');
  }
  reader.push(piece.join(''));
  reader.end();
  yield* drain();
  if (!any && !reader.isOpml) yield badEntry(1, 'the file has no opml or outline element', '');
}

const pieceChars = 65_536;

/** Prefix of the attributes that carry what OPML has no words for. */
export const opmlPrefix = 'outrider';

function outlineEntry(line: number, outline: OpmlOutline): ListEntry {
  const { feedUrl, siteUrl, title, extra } = outline;
  const fields = fieldsOfRow(new Map(Object.entries(extra ?? {})));
  const [channel] = (fields.channels as Record<string, unknown>[] | undefined) ?? [];
  fields.name ??= title ?? undefined;
  // Lists of others name several feeds of one site, and the feed is what the title belongs to.
  const named = extra === undefined && title !== null ? { title } : {};
  if (feedUrl !== null) fields.channels = [{ ...named, ...channel, url: feedUrl }];
  // An outline of ours without a feed names a channel of another kind, whose address stands in its own attributes.
  fields.url = siteUrl ?? feedUrl;
  return entryOf(line, fields, feedUrl ?? siteUrl ?? '');
}

function entryOf(line: number, value: unknown, text: string): ListEntry {
  const checked = checkEntry(value);
  return checked.outcome === 'ok'
    ? { outcome: 'source', line, source: checked.source }
    : badEntry(line, checked.reason, text);
}
