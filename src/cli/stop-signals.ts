import { EXIT } from '../errors/index.ts';
import type { Log } from '../telemetry/index.ts';

const endsAll = { SIGTERM: 143, SIGINT: 130 } as const;
const enders = Object.entries(endsAll).map(([name, code]) => [name, () => process.exit(code)] as const);

/**
 * Ends the process at a signal, as the kernel does with every process but the first one: in a container a signal without
 * a listener is lost, and stopping it would take until it is killed. `untilStopped` takes over.
 */
export function endAtSignals(): void {
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
