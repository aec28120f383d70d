import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { databaseOptions } from '../../config/index.ts';
import { openDatabase } from '../../db/index.ts';
import type { Role } from '../../engine.ts';
import { EXIT } from '../../errors/index.ts';
import { type RoleSpec, ServiceManager, Supervisor } from '../../resilience/index.ts';
import { type Log, systemClock } from '../../telemetry/index.ts';
import { type Context, loadContext } from '../context.ts';
import { requireFreePort } from '../free-port.ts';
import { requireRoles } from '../require-roles.ts';
import { fetchersOf, runRole } from '../role-process.ts';
import { signInWords } from '../sign-in.ts';
import { exitOnCrash, untilStopped } from '../stop-signals.ts';
import { packageRoot } from '../version.ts';

const descriptions: Record<Role, string> = {
  serve: 'serve the API',
  fetch: 'lease domains and fetch them; run as many as you like, on any machine that reaches the database',
  schedule: 'find channels, index documents, keep house',
};

// Longer than a role's own watchdog needs to find out what blocks it and to end it.
const patienceMs = 15_000;

/** `up`, and the roles it starts, which can also be started alone. */
export function addRoleCommands(program: Command): void {
  program
    .command('up')
    .description('start everything: one API, one scheduler, fetchers by cores')
    .addOption(new Option('--port <n>', 'port of the API'))
    .addOption(new Option('--fetchers <n>', 'how many fetcher processes'))
    .action(async (flags: { port?: string; fetchers?: string }, command: Command) => {
      const context = loadContext(command, { 'api.port': flags.port, 'up.fetchers': flags.fetchers }, 'up');
      process.exitCode = await runUp(context);
    });
  for (const role of ['serve', 'fetch', 'schedule'] as const) {
    const command = program.command(role).description(descriptions[role]);
    if (role === 'serve') command.option('--port <n>', 'port of the API');
    if (role === 'fetch')
      command
        .option('--pool <name>', 'group this fetcher belongs to')
        .option('--render', 'run pages that need JavaScript in a browser; no start without one');
    if (role !== 'serve')
      command.option('--health-port <n>', 'port of /healthz, /readyz, /health and /metrics');
    command.action(
      async (
        flags: { port?: string; pool?: string; healthPort?: string; render?: boolean },
        self: Command,
      ) => {
        const overrides = {
          'api.port': flags.port,
          'fetch.pool': flags.pool,
          'health.port': flags.healthPort,
          'render.enabled': flags.render ? 'on' : undefined,
        };
        await runRole(role, loadContext(self, overrides, role));
      },
    );
  }
}

/** Runs the supervisor until a signal; answers the exit code. */
async function runUp(context: Context): Promise<number> {
  const { log, loaded } = context;
  exitOnCrash(log);
  // Before anything runs: the roles that do not need these settings would start, and be stopped again.
  await requireRoles(loaded.config);
  let supervisor: Supervisor | null = null;
  const stopped = untilStopped(() => supervisor?.kill());
  const services = new ServiceManager(process.env, log);
  sayNodeAge(log);
  // The parent holds the embedded server too, so that it stays up while roles come and go.
  const database = await openDatabase({
    ...databaseOptions(loaded.config),
    maxConnections: 2,
    applicationName: 'outrider up',
    log,
  });
  try {
    // Before the fetchers begin with what they would have to leave again once the API finds out.
    await requireFreePort(loaded.config.api);
  } catch (error) {
    await database.close();
    throw error;
  }
  let giveUp: (code: number) => void = () => undefined;
  const hopeless = new Promise<number>((resolve) => {
    giveUp = resolve;
  });
  let told: string | null = null;
  let isOver = false;
  supervisor = superviseRoles(context, {
    onAllReady: (count) => services.ready(`${count} processes run`, () => true),
    onReady: (address) => {
      // One that was replaced is where the one before it was, unless any port would do.
      if (address === told) return;
      told = address;
      void signInWords(database.pool, address, loaded.config)
        .catch((error: unknown) => {
          log.warn({ error }, 'no sign-in link could be made');
          return 'Sign in with: outrider token sign-in';
        })
        .then((words) => {
          if (isOver) return;
          process.stdout.write(
            `\n  Outrider is running. Dashboard: ${address}/\n  ${words}\n  Add a publisher with: outrider add https://example.com\n  Stop with Ctrl-C.\n\n`,
          );
        });
    },
    onHopeless: (code) => giveUp(code),
  });
  const end = await Promise.race([stopped, hopeless]);
  isOver = true;
  log.info({}, 'stopping; requests under way may finish');
  services.stopping();
  await supervisor.stop();
  await database.close();
  return typeof end === 'number' ? end : EXIT.ok;
}

/** Starts the usual roles under a supervisor, with this process's settings. */
export function superviseRoles(
  context: Context,
  on: {
    /** The API can be reached; again after it was replaced. */
    onReady: (address: string) => void;
    /** Every role has been ready, for the first time. */
    onAllReady?: (count: number) => void;
    onHopeless: (code: number) => void;
    env?: NodeJS.ProcessEnv;
  },
): Supervisor {
  const { config } = context.loaded;
  const fetchers = fetchersOf(config);
  const shared = [
    ...(context.flags.config === undefined ? [] : ['--config', context.flags.config]),
    ...(context.flags.logLevel === undefined ? [] : ['--log-level', context.flags.logLevel]),
    ...(config.data.dir === null ? [] : ['--data', config.data.dir]),
  ];
  // Each process needs a port of its own: the scheduler takes the one that is set, fetchers those behind it.
  const health = (offset: number): string[] =>
    config.health.port === 0 ? [] : ['--health-port', String(config.health.port + offset)];
  const roles: RoleSpec[] = [
    { name: 'serve', args: ['serve', ...shared, '--port', String(config.api.port)] },
    { name: 'schedule', args: ['schedule', ...shared, ...health(0)] },
    ...Array.from({ length: fetchers }, (_, index) => ({
      name: `fetch ${index + 1}`,
      args: ['fetch', ...shared, ...health(index + 1)],
    })),
  ];
  let wasReady = false;
  const supervisor = new Supervisor({
    entry: join(packageRoot(), 'dist', 'src', 'cli', 'main.js'),
    roles,
    env: on.env ?? process.env,
    graceMs: config.up.graceSeconds * 1000 + 3000,
    silentMs: config.watchdog.blockedSeconds * 1000 + patienceMs,
    clock: systemClock,
    log: context.log,
    onMessage: (role, message) => {
      if (role.name === 'serve' && message.type === 'ready' && message.address !== null)
        on.onReady(message.address);
      if (wasReady || !supervisor.isReady) return;
      wasReady = true;
      on.onAllReady?.(roles.length);
    },
    onHopeless: (_role, code) => on.onHopeless(code),
  });
  supervisor.start();
  return supervisor;
}

function sayNodeAge(log: Log): void {
  if (Number(process.versions.node.split('.')[0]) === 20) {
    log.warn(
      { node: process.versions.node },
      'Node 20 is past its end of life; Outrider works with it, 22 or 24 get security fixes',
    );
  }
}
