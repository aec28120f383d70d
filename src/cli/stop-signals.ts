import { EXIT } from '../errors/index.ts';
import type { Log } from '../telemetry/index.ts';

type EndCodes = Readonly<Record<'SIGTERM' | 'SIGINT', number>>;

const roles = new Set(['up', 'serve', 'fetch', 'schedule']);
let enders: readonly (readonly [NodeJS.Signals, () => void])[] = [];

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
  enders = (['SIGTERM', 'SIGINT'] as const).map((name) => [name, () => process.exit(codes[name])] as const);
  for (const [name, end] of enders) process.on(name, end);
}

/**
 * Resolves at the first SIGINT or SIGTERM, or when the parent goes away; a second signal ends the process at once, after
 * `onSecond` has ended what it started.
 */
export function untilStopped(onSecond: () => void = () => undefined): Promise<string> {
  for (const [name, end] of enders) process.removeListener(name, end);
  return new Promise((resolve) => {
    let stopping = false;
    const onSignal = (name: string) => (): void => {
      if (stopping) {
        onSecond();
        process.exit(130);
      }
      stopping = true;
      resolve(name);
    };
    process.on('SIGTERM', onSignal('SIGTERM'));
    // Ctrl-C reaches the whole process group: a role under a supervisor waits for the supervisor's word.
    if (process.env.OUTRIDER_ROLE_CHILD === '1') process.on('SIGINT', () => undefined);
    else process.on('SIGINT', onSignal('SIGINT'));
    const orphaned = (): void => {
      if (!stopping) onSignal('parent gone')();
    };
    if (process.channel !== undefined && process.channel !== null) process.on('disconnect', orphaned);
    // The parent may be gone before anybody listens.
    if (process.env.OUTRIDER_ROLE_CHILD === '1' && !process.connected) orphaned();
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
