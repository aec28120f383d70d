import { documentRecord } from '../../documents/index.ts';
import type { BatchEnd, Sink } from '../sink.ts';
import { lastLineEnd } from './line-ends.ts';
import { Segments } from './segments.ts';

/** Where NDJSON files are written and how large they become. */
export type NdjsonOptions = {
  name: string;
  dir: string;
  mostBytes: number;
  mostAgeMs: number;
  now: () => number;
};

/** Documents as lines of JSON, each version once, in files that are finished by size and by age. */
export function createNdjsonSink(options: NdjsonOptions): Sink {
  const segments = new Segments({
    ...options,
    prefix: 'documents',
    suffix: '.ndjson',
    wholeUntil: lastLineEnd,
  });
  return {
    name: options.name,
    kind: 'files',
    batch: { items: 500, bytes: 16 * 1024 * 1024, withRaw: false },
    open: async (position) => {
      await segments.open(position);
      return null;
    },
    deliver: async (batch): Promise<BatchEnd> => {
      const lines = batch.map(({ document }) => Buffer.from(`${JSON.stringify(documentRecord(document))}\n`));
      const { isWritten, position } = await segments.append(lines);
      return { ends: batch.map(() => ({ end: isWritten ? 'delivered' : 'waiting' })), position };
    },
    idle: () => segments.finishOld(),
    close: () => segments.close(),
  };
}
