import { AppError } from '../errors/index.ts';
import { type ListEntry, type ListFormat, listFormats, readList } from '../source-lists/index.ts';

const mostBytes = 1_000_000;

/** A list of sources that a job brings along. */
export type ImportList = { format: ListFormat; text: string };

/**
 * The list in the metadata of an import job; throws what is wrong with it. Called when the job is made, so that a list
 * nobody can read never becomes a failure later.
 */
export async function checkImportList(metadata: Readonly<Record<string, unknown>>): Promise<ImportList> {
  const { format, text } = metadata;
  if (typeof text !== 'string' || text.trim() === '')
    throw refused('an import job needs its list in metadata.text');
  if (typeof format !== 'string' || !listFormats.includes(format as ListFormat))
    throw refused(`metadata.format says how the list is written: ${listFormats.join(', ')}`);
  if (Buffer.byteLength(text) > mostBytes)
    throw refused(`the list is larger than ${mostBytes} bytes; import it as a file instead`);
  const list: ImportList = { format: format as ListFormat, text };
  let bad: string | null = null;
  for await (const entry of readImportList(list)) {
    if (entry.outcome !== 'bad') return list;
    bad ??= entry.reason;
  }
  throw refused(`nothing in the list can be used${bad === null ? '' : `: ${bad}`}`);
}

/** The entries of a list. */
export function readImportList({ format, text }: ImportList): AsyncIterable<ListEntry> {
  return readList(pieces(text), { format });
}

async function* pieces(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

const refused = (message: string): AppError =>
  new AppError('job_import_invalid', message, {
    httpStatus: 422,
    exitCode: 2,
    advice: 'Give metadata {"format": "csv", "text": "…"} with at least one source.',
  });
