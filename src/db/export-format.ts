import { createHash } from 'node:crypto';
import { AppError } from '../errors/index.ts';

// The file: gzip of lines. First a header; for each table a line of JSON, its rows in COPY's text form, the line "\."
// and a line with count and checksum; at the end the sequences and a total. COPY doubles every backslash of the data,
// so "\." can only be the end.

/** Raised when the form of the file changes; older forms stay readable. */
export const formatVersion = 1;

/** First line of an export. */
export type ExportHeader = {
  format: 'outrider-export';
  formatVersion: number;
  schemaVersion: number;
  createdAt: string;
  migrations: { version: number; checksum: string }[];
  partitions: Partition[];
};

/** A part of a partitioned table; parts made at run time are in no migration. */
export type Partition = { name: string; parent: string; bound: string; partitionBy: string | null };

/** Opens and closes the rows of a table. */
export type TableStart = { table: string; columns: string[] };
export type TableEnd = { rows: number; sha256: string };

/** Last line of an export; without it the file is cut off. */
export type ExportEnd = {
  sequences: { name: string; lastValue: string; isCalled: boolean }[];
  tables: number;
  rows: number;
};

/** End of a table's rows. */
export const rowsEnd = Buffer.from('\\.\n');

const newline = 10;
const rowsEndAfterLine = Buffer.from('\n\\.\n');
/** Lines of JSON are small (the header grows with the partitions); a longer one is no export of ours. */
const lineLimit = 16_000_000;

/** Counts and sums the rows that pass. */
export class RowSum {
  rows = 0;
  #hash = createHash('sha256');

  add(chunk: Buffer): void {
    this.#hash.update(chunk);
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) this.rows += 1;
  }

  end(): TableEnd {
    return { rows: this.rows, sha256: this.#hash.digest('hex') };
  }
}

/** An export that cannot be used, and why. */
export function damaged(reason: string, cause?: unknown): AppError {
  return new AppError('db_import_damaged', `The export cannot be used: ${reason}.`, {
    httpStatus: 400,
    advice: 'Nothing was imported. Copy the file again or make a new export.',
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Reads an export piece by piece; holds one piece (or one line of JSON) at a time. */
export class ExportReader {
  #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  async #more(): Promise<Buffer> {
    let next: IteratorResult<Buffer>;
    try {
      next = await this.#chunks.next();
    } catch (error) {
      // Z_DATA_ERROR, Z_BUF_ERROR: the content; anything else is the disk and keeps its own name.
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      throw code.startsWith('Z_') ? damaged('it is not a whole gzip file', error) : error;
    }
    if (next.done) throw damaged('it ends too early');
    return next.value;
  }

  /** The next line as JSON. */
  async readJson(): Promise<Record<string, unknown>> {
    const parts: Buffer[] = [];
    let bytes = 0;
    for (let chunk = this.#rest; ; chunk = await this.#more()) {
      const at = chunk.indexOf(newline);
      parts.push(at < 0 ? chunk : chunk.subarray(0, at));
      bytes += chunk.length;
      if (at >= 0) {
        this.#rest = chunk.subarray(at + 1);
        break;
      }
      if (bytes > lineLimit) throw damaged('a line is too long');
    }
    try {
      const value: unknown = JSON.parse(Buffer.concat(parts).toString('utf8'));
      if (typeof value === 'object' && value !== null && !Array.isArray(value))
        return value as Record<string, unknown>;
    } catch (error) {
      throw damaged('a line is not JSON', error);
    }
    throw damaged('a line is not an object');
  }

  /** The rows up to their end, in pieces that follow the file's, not the lines. */
  async *readRows(): AsyncGenerator<Buffer> {
    // Begins as if after a line, so that the end of an empty table is found like any other.
    let data: Buffer = Buffer.concat([Buffer.from('\n'), this.#rest]);
    let skip = 1;
    for (;;) {
      const at = data.indexOf(rowsEndAfterLine);
      // The end may lie across two pieces: keep what could be its beginning.
      const until = at >= 0 ? at + 1 : Math.max(skip, data.length - (rowsEndAfterLine.length - 1));
      if (until > skip) yield data.subarray(skip, until);
      if (at >= 0) {
        this.#rest = data.subarray(at + rowsEndAfterLine.length);
        return;
      }
      const kept = data.subarray(Math.min(until, Math.max(0, data.length - 3)));
      skip = until - (data.length - kept.length);
      data = Buffer.concat([kept, await this.#more()]);
    }
  }
}
