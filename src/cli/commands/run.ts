import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { LoadedConfig } from '../../config/index.ts';
import type { Database } from '../../db/index.ts';
import { AppError, EXIT, messageOf } from '../../errors/index.ts';
import { countExecution, type ExecutionStats, submit } from '../../frontier/index.ts';
import { removeSink, saveSink, takeDeliveries } from '../../outbox/index.ts';
import { systemClock } from '../../telemetry/index.ts';
import { loadContext } from '../context.ts';
import { refuseSameFile } from '../input-file.ts';
import { printJson } from '../output.ts';
import { type Output, openRecords, openStdout } from '../output-file.ts';
import { startProgress } from '../progress.ts';
import { untilStopped } from '../stop-signals.ts';

type RunFlags = {
  urls: string;
  out?: string;
  concurrency?: string;
  delayMs?: string;
  allowNetwork?: string[];
};

const collect = (value: string, before: string[] = []): string[] => [...before, value];
// A URL that must wait longer than this for its retry is reported as failed: a one-shot run ends.
const horizonMs = 30_000;
const deliveryBatch = 200;

/** `run`: the same engine for people with a list. */
export function addRunCommand(program: Command): void {
  program
    .command('run')
    .description('fetch a list of URLs, write the articles as NDJSON, and end')
    .requiredOption('--urls <file>', 'one address per line; - reads standard input')
    .option('--out <file>', 'where the articles go; standard output unless said')
    .option('--concurrency <n>', 'domains worked on at once')
    .option('--delay-ms <n>', 'least gap between two requests to one domain')
    .option('--allow-network <cidr:port>', 'private network that may be fetched; repeatable', collect)
    .action(async (flags: RunFlags, command: Command) => {
      process.exitCode = await runList(flags, command);
    });
}

async function runList(flags: RunFlags, command: Command): Promise<number> {
  const urls = readUrls(flags.urls);
  refuseSameFile(flags.urls, flags.out);
  const settings = {
    'fetch.domains_at_once': flags.concurrency,
    'fetch.default_delay_ms': flags.delayMs,
    'fetch.allow_networks': flags.allowNetwork,
    // It ends when the list is fetched: nobody waits for a browser here.
    'render.enabled': 'off',
    'log.level': command.optsWithGlobals<{ logLevel?: string }>().logLevel ?? 'warn',
  };
  const { loaded } = loadContext(command, settings);
  const temporary = !namesDatabase(loaded);
  if (!temporary) refuseHaste(loaded, loadContext(command).loaded);
  const dir = temporary ? mkdtempSync(join(tmpdir(), 'outrider-run-')) : undefined;
  try {
    const context = loadContext(command, {
      ...settings,
      // Nothing is in a temporary database but the list: a person's wish, which no budget holds.
      ...(temporary
        ? { 'data.dir': dir, 'documents.keep_html': 'none', 'domains.max_pages_per_run': 0 }
        : {}),
    });
    const file = flags.out === undefined ? openStdout() : await openRecords(flags.out);
    const stopped = untilStopped();
    const { startEngine } = await import('../../engine.ts');
    const engine = await startEngine({
      config: context.loaded.config,
      roles: temporary ? ['fetch'] : ['fetch', 'schedule'],
      version: context.version,
      log: context.log,
    });
    try {
      // Nobody searches a database that is about to be removed.
      if (temporary)
        await saveSink(engine.database.pool, { name: 'index', kind: 'postgres', enabled: false });
      const summary = await fetchList(engine.database, urls, file, stopped);
      report(summary, flags.out ?? null, context.flags.json === true);
      // Whoever reads no further wants no more.
      return summary.interrupted && file.isRead() ? 130 : EXIT.ok;
    } finally {
      await engine.stop();
      await file.finish();
    }
  } finally {
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
  }
}

/** On a database of the user's everything that is due is fetched beside the list, at the pace of this run. */
function refuseHaste(wanted: LoadedConfig, usual: LoadedConfig): void {
  const { defaultDelayMs } = usual.config.fetch;
  if (wanted.config.fetch.defaultDelayMs >= defaultDelayMs) return;
  throw new AppError(
    'usage',
    `--delay-ms ${wanted.config.fetch.defaultDelayMs} would hold for every domain of this database that is due meanwhile, and is less than its ${defaultDelayMs} (fetch.default_delay_ms)`,
    {
      exitCode: EXIT.usage,
      advice:
        'Leave --delay-ms out, or fetch the list on a temporary database: without --data, OUTRIDER_DATA_DIR and DATABASE_URL.',
    },
  );
}

/** Whether a database of the user's is meant, wherever it is named: theirs has an index, and is not removed. */
const namesDatabase = ({ config, origins }: LoadedConfig): boolean =>
  config.database.url !== null || origins.get('data.dir') !== 'default';

type Summary = {
  listed: number;
  accepted: number;
  known: number;
  refused: { url: string; reason: string }[];
  written: number;
  stats: ExecutionStats;
  seconds: number;
  interrupted: boolean;
};

async function fetchList(
  database: Database,
  urls: readonly string[],
  file: Output,
  stopped: Promise<string>,
): Promise<Summary> {
  const { pool } = database;
  const startedAt = systemClock.monotonic();
  const since = (await pool.query<{ now: Date }>('SELECT now() AS now')).rows[0]!.now;
  const execution = {
    id: BigInt.asIntN(63, BigInt(`0x${randomBytes(7).toString('hex')}`)),
    sourceId: null,
    since,
    horizonMs,
  };
  const sink = `run-${execution.id.toString(36)}`;
  await saveSink(pool, { name: sink, kind: 'run', enabled: true });
  let interrupted = false;
  void stopped.then(() => {
    interrupted = true;
  });
  try {
    const answers = await submit(
      pool,
      urls.map((url) => ({
        url,
        kind: 'article',
        origin: 'manual',
        sourceId: null,
        priority: 5,
        executionId: execution.id,
        own: true,
      })),
    );
    const refused = answers.flatMap(({ answer }, index) =>
      answer.startsWith('rejected:') ? [{ url: urls[index]!, reason: answer.slice(9) }] : [],
    );
    const accepted = answers.filter(({ answer }) => answer === 'inserted').length;
    const progress = startProgress(accepted);
    let written = 0;
    let stats = await countExecution(pool, execution);
    for (;;) {
      written += await deliver(database, { sink, executionId: execution.id }, file);
      stats = await countExecution(pool, execution);
      progress.show(stats.total - stats.waiting, `${written} articles`);
      interrupted ||= !file.isRead();
      if (interrupted || stats.waiting === 0) break;
      await systemClock.wait(250);
    }
    for (let batch = 1; batch > 0; written += batch)
      batch = await deliver(database, { sink, executionId: execution.id }, file);
    progress.end();
    return {
      listed: urls.length,
      accepted,
      known: urls.length - accepted - refused.length,
      refused,
      written,
      stats,
      seconds: (systemClock.monotonic() - startedAt) / 1000,
      interrupted,
    };
  } finally {
    await removeSink(pool, sink);
  }
}

/** Written inside the transaction that takes the rows: a crash repeats a line, it never loses one. */
async function deliver(
  database: Database,
  from: { sink: string; executionId: bigint },
  file: Output,
): Promise<number> {
  return database.withTransaction(async (tx) => {
    const records = await takeDeliveries(tx, from.sink, deliveryBatch, from.executionId);
    for (const record of records) await file.write(`${JSON.stringify(record)}\n`);
    return file.isRead() ? records.length : 0;
  });
}

function readUrls(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    throw new AppError('urls_unreadable', `the list ${path} cannot be read: ${messageOf(error)}`, {
      exitCode: EXIT.usage,
      advice: 'Give a text file with one address per line.',
    });
  }
  const urls = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (urls.length === 0)
    throw new AppError('urls_empty', `${path} holds no addresses`, {
      exitCode: EXIT.usage,
      advice: 'Give a text file with one address per line.',
    });
  return urls;
}

function report(summary: Summary, out: string | null, json: boolean): void {
  const { stats } = summary;
  if (json && out !== null) {
    printJson({ ...summary, refused: summary.refused.slice(0, 100) });
    return;
  }
  const lines = [
    `${summary.accepted} ${summary.accepted === 1 ? 'URL' : 'URLs'} in ${summary.seconds.toFixed(1)} s: ${summary.written} ${summary.written === 1 ? 'article' : 'articles'} written${out === null ? '' : ` to ${out}`}.`,
    ...stats.byOutcome.map(
      ({ status, reason, count }) =>
        `  ${String(count).padStart(7)}  ${status}${reason === null ? '' : `: ${reason}`}`,
    ),
    ...(summary.known > 0 ? [`  ${String(summary.known).padStart(7)}  listed twice or known before`] : []),
    ...summary.refused.slice(0, 10).map(({ url, reason }) => `  refused (${reason}): ${url.slice(0, 100)}`),
    ...(summary.refused.length > 10 ? [`  … and ${summary.refused.length - 10} more refused`] : []),
    ...(summary.interrupted ? ['Stopped before the end; the rest was not fetched.'] : []),
  ];
  process.stderr.write(`${lines.join('\n')}\n`);
}
