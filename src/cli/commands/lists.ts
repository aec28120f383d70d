import { openSync, writeSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { BadLine, ImportReport } from '../../channels/index.ts';
import { EXIT, unwritable } from '../../errors/index.ts';
import { formatOfName, type ListFormat, listFormats, readList } from '../../source-lists/index.ts';
import { withApi } from '../api.ts';
import { loadContext } from '../context.ts';
import { isCrawling } from '../crawling.ts';
import { sendList } from '../import-parts.ts';
import { openInput, refuseSameFile } from '../input-file.ts';
import { oneLine, printJson } from '../output.ts';
import { openStdout, openWhole } from '../output-file.ts';
import { startProgress } from '../progress.ts';

/** `import`, `export`. */
export function addListCommands(program: Command): void {
  program
    .command('import <file>')
    .description(
      'follow the publishers of a list: OPML, CSV, JSON, NDJSON or one address per line; - is standard input',
    )
    .addOption(
      new Option('--format <format>', 'how it is written; seen from the file unless said').choices(
        listFormats,
      ),
    )
    .option('--update', 'sources that are followed already take over what the list says')
    .option(
      '--rejects <file>',
      'write every entry that cannot be used, as NDJSON with its line and the reason',
    )
    .addHelpText(
      'after',
      `
An interrupted import is finished by running it again: what is there already is counted, not added twice.`,
    )
    .action(runImport);
  program
    .command('export [file]')
    .description(
      'write every source with its settings and channels; to standard output unless a file is given',
    )
    .addOption(new Option('--format <format>', 'as the file is named, else json').choices(listFormats))
    .addHelpText(
      'after',
      `
JSON, NDJSON, CSV and OPML keep every setting, proxy passwords included; lines keep addresses only.`,
    )
    .action(runExport);
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

type ImportFlags = { format?: ListFormat; update?: boolean; rejects?: string };

async function runImport(file: string, flags: ImportFlags, command: Command): Promise<void> {
  const input = openInput(
    file,
    'Give an OPML, CSV, JSON or NDJSON file, or a text file with one address per line.',
  );
  refuseSameFile(file, flags.rejects);
  const reject = flags.rejects === undefined ? () => undefined : openRejects(flags.rejects);
  const context = loadContext(command);
  const progress = startProgress(input.bytes);
  const entries = readList(input.chunks(), { format: flags.format ?? formatOfName(file) });
  const { report, running } = await withApi(context, async (api) => {
    const sent = await sendList(api, entries, {
      update: flags.update ?? false,
      onProgress: (so) =>
        progress.show(input.read(), `bytes, ${so.added} added, ${so.known} known, ${so.bad} bad`),
      onBad: reject,
    });
    return { report: sent, running: sent.searches > 0 && (await isCrawling(api)) };
  }).finally(() => progress.end());
  if (context.flags.json) printJson(report);
  else sayReport(report, { ...flags, running });
  // Nothing at all could be used: a script should notice.
  if (report.bad > 0 && report.added + report.known === 0) process.exitCode = EXIT.failed;
}

const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

function sayReport(report: ImportReport, flags: ImportFlags & { running: boolean }): void {
  const channels = report.channelsAdded + report.channelsKnown;
  say(
    `${count(report.added, 'source')} added, ${report.known} followed already${report.updated > 0 ? `, ${report.updated} of them changed` : ''}.`,
  );
  if (channels > 0)
    say(`${count(report.channelsAdded, 'channel')} added, ${report.channelsKnown} followed already.`);
  if (report.searches > 0)
    say(
      `The feeds of ${count(report.searches, 'source')} are ${flags.running ? 'being looked for' : 'looked for as soon as "outrider up" runs'}; "outrider channels" shows them.`,
    );
  if (report.deep > 0)
    say(
      `warning: ${count(report.deep, 'source')} would have links followed more than 5 deep, or without end (settings.maxDepth).`,
    );
  if (report.bad === 0) return;
  say(`${count(report.bad, 'entry', 'entries')} of ${count(report.lines, 'line')} could not be used:`);
  const shown: readonly BadLine[] = report.badLines.slice(0, 10);
  for (const { line, reason } of shown) say(`  line ${line}: ${oneLine(reason)}`);
  if (report.bad > shown.length)
    say(
      flags.rejects === undefined
        ? `  … and ${report.bad - shown.length} more; --rejects FILE writes all of them.`
        : `  … and ${report.bad - shown.length} more, all in ${flags.rejects}.`,
    );
}

async function runExport(
  file: string | undefined,
  flags: { format?: ListFormat },
  command: Command,
): Promise<void> {
  const format = flags.format ?? formatOfName(file ?? '') ?? 'json';
  const context = loadContext(command);
  const isFile = file !== undefined && file !== '-';
  const out = isFile ? await openWhole(file) : openStdout();
  try {
    const written = await withApi(context, async (api) => {
      const { headers, pieces } = await api.download('/api/v1/sources/export', { format });
      for await (const piece of pieces) if (!(await out.write(piece))) break;
      return Number(headers['outrider-sources'] ?? 0);
    });
    await out.finish();
    if (isFile) say(`${count(written, 'source')} written to ${file}.`);
  } finally {
    await out.abandon();
  }
}

// Readable by its owner alone: settings may hold passwords of proxies.
function openRejects(file: string): (bad: BadLine) => void {
  const orUnwritable = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw unwritable(file, error);
    }
  };
  const handle = orUnwritable(() => openSync(file, 'w', 0o600));
  return (bad) => void orUnwritable(() => writeSync(handle, `${JSON.stringify(bad)}\n`));
}
