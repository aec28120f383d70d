import { type BadLine, type ImportReport, startReport } from '../channels/index.ts';
import { AppError } from '../errors/index.ts';
import { createListWriter, type ListEntry } from '../source-lists/index.ts';
import { systemClock } from '../telemetry/index.ts';
import type { Api } from './api.ts';

/** How a list is sent. */
export type SendOptions = {
  update: boolean;
  /** Called after every part. */
  onProgress(report: Readonly<ImportReport>): void;
  /** Called for every entry nobody can use, however many there are. */
  onBad(bad: BadLine): void;
};

// An answer in a second or two, and far below the 32 MB that one call takes.
const partEntries = 2000;
const partChars = 4 * 1024 * 1024;

const sums = ['added', 'known', 'updated', 'channelsAdded', 'channelsKnown', 'searches', 'deep'] as const;

/**
 * Sends a list of any length and format part by part. It is read here and written again as NDJSON, which keeps every
 * setting: any format can be cut then, and every part can be sent again.
 */
export async function sendList(
  api: Api,
  entries: AsyncIterable<ListEntry>,
  options: SendOptions,
): Promise<ImportReport> {
  const { report, refuse } = startReport(options.onBad);
  const writer = createListWriter('ndjson');
  let part: Part = { text: [], lines: [], chars: 0 };
  const flush = async (): Promise<void> => {
    if (part.lines.length > 0) {
      const answer = await send(api, part.text.join(''), options.update);
      for (const name of sums) report[name] += answer[name];
      // The line of the part, as the list itself has it.
      for (const bad of answer.badLines) refuse({ ...bad, line: part.lines[bad.line - 1] ?? bad.line });
    }
    part = { text: [], lines: [], chars: 0 };
    options.onProgress(report);
  };
  for await (const entry of entries) {
    report.lines = Math.max(report.lines, entry.line);
    if (entry.outcome === 'bad') {
      refuse({ line: entry.line, reason: entry.reason, text: entry.text });
      continue;
    }
    const text = writer.source(entry.source);
    part.text.push(text);
    part.lines.push(entry.line);
    part.chars += text.length;
    if (part.lines.length >= partEntries || part.chars >= partChars) await flush();
  }
  await flush();
  return report;
}

type Part = { text: string[]; lines: number[]; chars: number };

const tries = 20;
const pauseMs = 500;

/** A server reads one list at a time: somebody else's is waited for a little. */
async function send(api: Api, text: string, update: boolean): Promise<ImportReport> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await api.upload<ImportReport>(
        '/api/v1/sources/import',
        { format: 'ndjson', part: true, update },
        { type: 'application/x-ndjson', text },
      );
    } catch (error) {
      const isBusy = error instanceof AppError && error.code === 'import_under_way';
      if (!isBusy || tried >= tries) throw error;
      await systemClock.wait(pauseMs);
    }
  }
}
