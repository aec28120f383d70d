import { EXIT } from '../errors/index.ts';
import type { Log } from '../telemetry/index.ts';

type StopSignal = 'SIGTERM' | 'SIGINT';
type EndCodes = Readonly<Record<StopSignal, number>>;

const roles = new Set(['up', 'serve', 'fetch', 'schedule']);
let act: ((name: StopSignal) => void) | null = null;

/**
 * Does this at a signal from now on. The listeners stay for good and only what they do is exchanged: a signal that has
 * come while the program was busy loading is told at the next turn of the event loop, and would be lost with its listener.
 */
function actAtSignals(next: (name: StopSignal) => void): void {
  const isFirst = act === null;
  act = next;
  if (isFirst) for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => act?.(name));
}

/**
 * Exit codes of a process that a signal ends while it still loads; null: as the kernel does it. A role that is asked to
 * stop before it has begun has done what was asked, and whoever watches it must not take that for a crash. In a container
 * a signal without a listener is lost on the first process, and stopping it would take until it is killed.
 */
export function decideEarlyEnd(args: readonly string[], pid: number): EndCodes | null {
  const command = args.find((arg) => !arg.startsWith('-'));
  if (command !== undefined && roles.has(command)) return { SIGTERM: EXIT.ok, SIGINT: EXIT.ok };
  return pid === 1 ? { SIGTERM: 143, SIGINT: 130 } : null;
}

/** Ends the process at a signal with these codes, until `untilStopped` takes over. */
export function endAtSignals(codes: EndCodes): void {
  actAtSignals((name) => process.exit(codes[name]));
}

// coreutils' timeout sends its signal to the program and then to its whole group: the same wish, told twice within a
// millisecond. Nobody presses Ctrl-C so fast.
const echoMs = 250;

/**
 * Resolves at the first SIGINT or SIGTERM, or when the parent goes away; a second signal ends the process at once, after
 * `onSecond` has ended what it started.
 */
export function untilStopped(onSecond: () => void = () => undefined): Promise<string> {
  return new Promise((resolve) => {
    const isChild = process.env.OUTRIDER_ROLE_CHILD === '1';
    let stopping = false;
    let first: { reason: string; at: number } | null = null;
    const stop = (reason: string): void => {
      if (stopping) {
        if (first?.reason === reason && performance.now() - first.at < echoMs) return;
        onSecond();
        process.exit(130);
      }
      stopping = true;
      first = { reason, at: performance.now() };
      resolve(reason);
    };
    actAtSignals((name) => {
      // Ctrl-C reaches the whole process group: a role under a supervisor waits for the supervisor's word.
      if (name === 'SIGTERM' || !isChild) stop(name);
    });
    const orphaned = (): void => {
      if (!stopping) stop('parent gone');
    };
    if (process.channel !== undefined && process.channel !== null) process.on('disconnect', orphaned);
    // The parent may be gone before anybody listens.
    if (isChild && !process.connected) orphaned();
  });
}

/** What nobody foresaw and nobody caught, a rejection included, is told and ends the process: its state is unknown. */
export function exitOnCrash(log: Log): void {
  process.on('uncaughtException', (error, origin) => {
    log.fatal(
      { error, origin },
      'something unforeseen happened; the process ends, and its leases will expire',
    );
    process.exit(EXIT.crashed);
  });
}
