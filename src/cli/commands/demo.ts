import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { startDiscovery } from '../../channels/index.ts';
import { databaseOptions } from '../../config/index.ts';
import { openDatabase, type Queryable } from '../../db/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import { createSource } from '../../sources/index.ts';
import { systemClock } from '../../telemetry/index.ts';
import { type Context, type GlobalFlags, loadContext } from '../context.ts';
import { checkDemo, type DemoResult } from '../demo/checks.ts';
import { startView } from '../demo/view.ts';
import { startWebProcess, type WebProcess } from '../demo/web-process.ts';
import { wholeNumber } from '../numbers.ts';
import { newSignInWords } from '../sign-in.ts';
import { untilStopped } from '../stop-signals.ts';
import { superviseRoles } from './roles.ts';

type DemoFlags = { seconds?: string; publishers: string; seed: string; speed: string };

// Shorter than the usual second, so that there is something to watch; the checks hold us to it.
const delayMs = 250;
const usualPort = 8060;
const againMs = 10_000;

/** `demo`: the whole engine on a simulated web. */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('watch it work on a simulated web of publishers; nothing leaves this machine')
    .option('--seconds <n>', 'stop by itself after so long; until Ctrl-C unless said')
    .option('--publishers <n>', 'how many publishers', '40')
    .option('--seed <n>', 'which web', '7')
    .option('--speed <n>', "the web's hours per real hour", '60')
    .action(async (flags: DemoFlags, command: Command) => {
      const numbers = {
        seconds: numberOf('seconds', flags.seconds),
        publishers: wholeNumber('--publishers', flags.publishers, { least: 1, most: 10_000 }),
        seed: wholeNumber('--seed', flags.seed, { least: 0, most: 2_147_483_647 }),
        speed: numberOf('speed', flags.speed)!,
      };
      process.exitCode = await runDemo(command, numbers);
    });
}

function numberOf(name: string, text: string | undefined, least = 0): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number) || number < least)
    throw new AppError('usage', `--${name} takes a number from ${least} on, not "${text}"`, {
      exitCode: EXIT.usage,
    });
  return number;
}

type DemoNumbers = { seconds: number | undefined; publishers: number; seed: number; speed: number };

async function runDemo(command: Command, numbers: DemoNumbers): Promise<number> {
  const stopped = untilStopped();
  const dir = mkdtempSync(join(tmpdir(), 'outrider-demo-'));
  try {
    const hostsFile = join(dir, 'hosts');
    const web = await startWebProcess({ ...numbers, hostsFile });
    try {
      const context = loadContext(
        command,
        {
          // A directory that is named for this command alone is meant; the one of everyday work is not.
          ...(command.optsWithGlobals<GlobalFlags>().data === undefined
            ? { 'data.dir': join(dir, 'data') }
            : {}),
          'api.port': await freePort(),
          'log.level': command.optsWithGlobals<{ logLevel?: string }>().logLevel ?? 'error',
        },
        'demo',
      );
      const result = await crawl(context, web, hostsFile, numbers, stopped);
      if (context.flags.json) process.stdout.write(`${JSON.stringify(result)}\n`);
      else process.stdout.write(summaryOf(result));
      return result.politenessViolations === 0 && result.lost === 0 && result.documents > 0
        ? EXIT.ok
        : EXIT.failed;
    } finally {
      await web.stop();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function crawl(
  context: Context,
  web: WebProcess,
  hostsFile: string,
  numbers: DemoNumbers,
  stopped: Promise<string>,
): Promise<DemoResult> {
  const { stderr } = process;
  const until =
    numbers.seconds === undefined
      ? Number.POSITIVE_INFINITY
      : systemClock.monotonic() + numbers.seconds * 1000;
  stderr.write(
    `Outrider demo: ${numbers.publishers} simulated publishers (seed ${numbers.seed}, ${numbers.speed} × real time).\nNothing leaves this machine.\n`,
  );
  const database = await openDatabase({
    ...databaseOptions(context.loaded.config),
    maxConnections: 4,
    applicationName: 'outrider demo',
    log: context.log,
  });
  try {
    const { publishers } = await web.ask<{ publishers: { host: string }[] }>('/state');
    const urls = publishers.map(({ host }) => `http://${host}/`);
    await requireOwn(database.pool, urls);
    for (const url of urls) {
      const { source } = await createSource(database.pool, { url, intervalMinutes: 1 });
      await startDiscovery(database.pool, source.id);
    }
    const view = startView(database.pool);
    let hopeless: number | null = null;
    let again: { words: string; at: number } | null = null;
    const supervisor = superviseRoles(context, {
      onReady: (address) => {
        view.say(`Dashboard: ${address}/   Stop with Ctrl-C.`);
        void newSignInWords(database.pool, address).then(
          (words) => {
            tell(words);
            again = { words, at: systemClock.monotonic() + againMs };
          },
          (error: unknown) => context.log.error({ error }, 'no sign-in link could be made'),
        );
      },
      onHopeless: (code) => {
        hopeless = code;
      },
      env: {
        ...process.env,
        OUTRIDER_FETCH_HOSTS_FILE: hostsFile,
        OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
        OUTRIDER_FETCH_DEFAULT_DELAY_MS: String(delayMs),
        LOG_LEVEL: context.loaded.config.log.level,
      },
    });
    let interrupted = false;
    void stopped.then(() => {
      interrupted = true;
    });
    while (!interrupted && hopeless === null && systemClock.monotonic() < until) {
      await Promise.race([systemClock.wait(Math.min(1000, until - systemClock.monotonic())), stopped]);
      if (!interrupted) await view.turn();
      again = tellAgain(again);
    }
    view.end();
    await supervisor.stop();
    if (hopeless !== null)
      throw new AppError('demo_failed', 'a part of the engine could not start', {
        exitCode: hopeless,
        advice: 'Its message above says why.',
      });
    return await checkDemo(database.pool, web, delayMs);
  } finally {
    await database.close();
  }
}

/**
 * Refuses a database with anything else than an earlier demo in it: its roles would crawl real publishers, with the short
 * delay of a show, and simulated ones would stand among those of the user.
 */
async function requireOwn(db: Queryable, urls: readonly string[]): Promise<void> {
  const { rows } = await db.query<{ others: number; own: number; strays: boolean }>(
    `SELECT count(*) FILTER (WHERE url <> ALL ($1))::integer AS others,
            count(*) FILTER (WHERE url = ANY ($1))::integer AS own,
            EXISTS (SELECT FROM url_frontier) AS strays FROM sources`,
    [urls],
  );
  const { others, own, strays } = rows[0]!;
  if (others === 0 && (own > 0 || !strays)) return;
  const what = others === 0 ? 'URLs' : others === 1 ? '1 source' : `${others} sources`;
  throw new AppError('demo_database', `the demo does not work on a database in use: this one has ${what}`, {
    exitCode: EXIT.usage,
    advice: 'Unset DATABASE_URL for a temporary database, or name an empty one.',
  });
}

// Not by the view, which cuts lines to the terminal's width.
const tell = (words: string): void => {
  const { stderr } = process;
  stderr.write(`${stderr.isTTY === true ? '\r\u001b[K' : ''}${words}\n`);
};

/** Tells the link once more when what is found at the start has scrolled it away. */
function tellAgain(again: { words: string; at: number } | null): typeof again {
  if (again === null || systemClock.monotonic() < again.at) return again;
  tell(again.words);
  return null;
}

/** The usual port, or any free one when somebody has it. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(0));
    server.listen(usualPort, '127.0.0.1', () => server.close(() => resolve(usualPort)));
  });
}

function summaryOf(result: DemoResult): string {
  const words = Object.entries(result).map(
    ([name, value]) =>
      `  ${String(value).padStart(7)}  ${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`,
  );
  return `\n${words.join('\n')}\n`;
}
