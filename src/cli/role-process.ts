import { availableParallelism } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import type { Config } from '../config/index.ts';
import { diagnoseStall } from '../diagnose/index.ts';
import type { Engine, Role } from '../engine.ts';
import { EXIT } from '../errors/index.ts';
import {
  availableMemory,
  createVitals,
  decideMemoryLimit,
  type GuardEnd,
  measureMemory,
  type RestartHistory,
  RoleGuard,
  ServiceManager,
  SupervisorLine,
  type Vitals,
  Watchdog,
} from '../resilience/index.ts';
import { type Log, systemClock } from '../telemetry/index.ts';
import type { Context } from './context.ts';
import { signInWords } from './sign-in.ts';
import { exitOnCrash, untilStopped } from './stop-signals.ts';

/** Fetchers that `up` starts. */
export const fetchersOf = (config: Config): number =>
  config.up.fetchers || Math.max(1, Math.min(8, availableParallelism() - 1));

const exitCodes: Record<GuardEnd, number> = {
  stall: EXIT.stalled,
  database: EXIT.database,
  memory: EXIT.memory,
};
const isGuardEnd = (reason: string): reason is GuardEnd => reason in exitCodes;

// A part that hangs does not stop either; the others have given back what they hold by then.
const hungGraceMs = 5000;
// Less than the supervisor waits beyond the grace period.
const extraGraceMs = 2000;

// Bodies of pages come and go by the hundred kilobytes, and V8 counts them against a heap of thirty-seven megabytes: at twice
// what lives it looks through all of that every 330 pages, at three times every 610, with peaks of up to 308 MB; this is the
// middle.
const fetcherHeap = '--heap-growing-percent=150';

/** Runs one role until it is stopped or has to be replaced, and ends the process with the code that says which. */
export async function runRole(role: Role, context: Context): Promise<never> {
  const { log, version, loaded } = context;
  const { config } = loaded;
  exitOnCrash(log);
  if (role === 'fetch') setFlagsFromString(fetcherHeap);
  const stopped = untilStopped();
  const services = new ServiceManager(process.env, log);
  const vitals = vitalsOf(config);
  const line = new SupervisorLine();
  let heard: (history: RestartHistory) => void = () => undefined;
  line.open((history) => heard(history));
  const { startEngine } = await import('../engine.ts');
  const engine = await startEngine({ config, roles: [role], version, log, vitals });
  heard = (history) => noteRestarts(engine, vitals, history);
  const guard = guardOf(engine, { config, vitals, log });
  guard.start();
  const watchdog = watchdogOf(engine, { role, config, log });
  watchdog.start();
  line.ready(engine.address, engine.loops);
  log.info(
    { pid: process.pid, ...(engine.address === null ? {} : { address: engine.address }) },
    `${role} is running`,
  );
  services.ready(`${role} is running`, () => guard.isWell);
  // Under `up` that one tells how to sign in.
  if (engine.address !== null && process.send === undefined)
    await tellSignIn(engine.database.pool, engine.address, { config, log });
  const reason = await Promise.race([stopped, guard.ended]);
  guard.stop();
  log.info({ reason }, `${role} is stopping`);
  services.stopping();
  const hangs = reason === 'stall' || reason === 'database';
  const hasStopped = await stopWithin(
    engine,
    hangs ? hungGraceMs : config.up.graceSeconds * 1000 + extraGraceMs,
    log,
  );
  if (!hasStopped)
    log.warn(
      { reason },
      `${role} did not stop within the grace period and ends as it is; its leases will expire`,
    );
  const code = isGuardEnd(reason) ? exitCodes[reason] : hasStopped ? EXIT.ok : EXIT.failed;
  // Keep-alive sockets and timers of libraries must not hold a stopped role.
  process.exit(code);
}

// A link is a row: while nothing can be written there is none, and that must not end what runs already. Thrown from here it
// would leave an API that answers and a process that no signal ends.
async function tellSignIn(
  pool: Engine['database']['pool'],
  address: string,
  { config, log }: { config: Config; log: Log },
): Promise<void> {
  try {
    process.stdout.write(`${await signInWords(pool, address, config)}\n`);
  } catch (error) {
    log.warn({ error }, 'no sign-in link can be made now; "outrider token sign-in" makes one later');
  }
}

function vitalsOf(config: Config): Vitals {
  const { stallSeconds, blockedSeconds, memoryLimitMb } = config.watchdog;
  return createVitals({
    memoryLimitBytes: decideMemoryLimit({
      setMb: memoryLimitMb,
      availableBytes: availableMemory(),
      fetchers: process.env.OUTRIDER_ROLE_CHILD === '1' ? fetchersOf(config) : 0,
    }),
    watchdog: { stallSeconds, blockedSeconds },
  });
}

/** What the supervisor told: the counters of a role go on where the one before it ended. */
function noteRestarts({ metrics }: Engine, vitals: Vitals, history: RestartHistory): void {
  vitals.restarts = history;
  for (const [reason, count] of Object.entries(history.counts)) metrics.roleRestarts.inc({ reason }, count);
  metrics.stalls.inc(history.counts.stall ?? 0);
}

function guardOf(engine: Engine, options: { config: Config; vitals: Vitals; log: Log }): RoleGuard {
  const { config, vitals, log } = options;
  return new RoleGuard({
    loops: engine.loops,
    stallMs: config.watchdog.stallSeconds * 1000,
    databaseMs: config.watchdog.databaseSeconds * 1000,
    memory: () => measureMemory(vitals.memoryLimitBytes),
    diagnose: () => diagnoseStall(engine.database, { isAway: engine.isAway() }),
    isDatabaseAway: (diagnosis) => diagnosis.isDatabaseAway === true,
    clock: systemClock,
    log,
    metrics: engine.metrics,
  });
}

function watchdogOf(engine: Engine, options: { role: Role; config: Config; log: Log }): Watchdog {
  const { role, config, log } = options;
  return new Watchdog({
    loops: engine.loops,
    blockedMs: config.watchdog.blockedSeconds * 1000,
    log,
    logOptions: { level: config.log.level, format: config.log.format, base: { role } },
  });
}

/** Whether the engine has stopped in time. */
async function stopWithin(engine: Engine, ms: number, log: Log): Promise<boolean> {
  const timer = new AbortController();
  const hasStopped = await Promise.race([
    engine.stop().then(
      () => true,
      (error: unknown) => {
        log.warn({ error }, 'something did not stop cleanly');
        return false;
      },
    ),
    systemClock.wait(ms, timer.signal).then(() => false),
  ]);
  timer.abort();
  return hasStopped;
}
