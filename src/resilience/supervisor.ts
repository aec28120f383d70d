import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock, Log } from '../telemetry/index.ts';

/** A role process to keep alive. */
export type RoleSpec = { name: string; args: readonly string[] };

export type SupervisorOptions = {
  /** Program the roles are started with. */
  entry: string;
  roles: readonly RoleSpec[];
  env: NodeJS.ProcessEnv;
  graceMs: number;
  clock: Clock;
  log: Log;
  /** Called when a role says something: `{ type: 'ready', address? }` once, then heartbeats. */
  onMessage?: (role: RoleSpec, message: RoleMessage) => void;
  /** Called when a role ends with a code that restarting cannot mend (bad configuration, a busy port). */
  onHopeless?: (role: RoleSpec, code: number) => void;
};

/** What a role tells its supervisor. */
export type RoleMessage = { type: 'ready'; address: string | null } | { type: 'beat' };

type Held = {
  spec: RoleSpec;
  child: ChildProcess | null;
  startedAt: number;
  beatAt: number;
  failures: number;
  done: Promise<void>;
};

const silentMs = 60_000;
const stableMs = 60_000;
const maxBackoffMs = 30_000;
// Usage, busy port, unsupported platform: the same start would end the same way.
const hopelessCodes = new Set([2, 4, 5]);

/** Starts role processes, hears their heartbeat, and replaces the ones that die or fall silent. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #held: Held[] = [];
  readonly #stopping = new AbortController();

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Pids of the running roles, by name. */
  pids(): { name: string; pid: number }[] {
    return this.#held.flatMap(({ spec, child }) =>
      child?.pid === undefined ? [] : [{ name: spec.name, pid: child.pid }],
    );
  }

  /** Starts every role. */
  start(): void {
    for (const spec of this.#options.roles) {
      const held: Held = { spec, child: null, startedAt: 0, beatAt: 0, failures: 0, done: Promise.resolve() };
      held.done = this.#keep(held);
      this.#held.push(held);
    }
  }

  /** Asks the roles to stop, waits for the grace period, then ends what is left. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const { child } of this.#held) child?.kill('SIGTERM');
    const all = Promise.all(this.#held.map((held) => held.done));
    const timer = new AbortController();
    await Promise.race([all, this.#options.clock.wait(this.#options.graceMs, timer.signal)]);
    timer.abort();
    for (const { child } of this.#held)
      if (child?.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await all;
  }

  async #keep(held: Held): Promise<void> {
    const { clock, log } = this.#options;
    const { name } = held.spec;
    while (!this.#stopping.signal.aborted) {
      const { code, signal } = await this.#runOnce(held);
      if (this.#stopping.signal.aborted) return;
      if (code !== null && hopelessCodes.has(code)) {
        this.#options.onHopeless?.(held.spec, code);
        return;
      }
      held.failures = clock.monotonic() - held.startedAt > stableMs ? 1 : held.failures + 1;
      const pauseMs = Math.min(maxBackoffMs, 250 * 2 ** held.failures);
      log.warn({ name, code, signal, restartInMs: pauseMs }, `${name} ended and will be started again`);
      await clock.wait(pauseMs, this.#stopping.signal);
    }
  }

  #runOnce(held: Held): Promise<{ code: number | null; signal: string | null }> {
    const { entry, env, clock, log, onMessage } = this.#options;
    const child = spawn(process.execPath, [entry, ...held.spec.args], {
      env: { ...env, OUTRIDER_ROLE_CHILD: '1' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    held.child = child;
    held.startedAt = clock.monotonic();
    held.beatAt = held.startedAt;
    child.on('message', (message: RoleMessage) => {
      held.beatAt = clock.monotonic();
      onMessage?.(held.spec, message);
    });
    const watch = setInterval(() => {
      if (clock.monotonic() - held.beatAt < silentMs) return;
      log.error(
        { name: held.spec.name, pid: child.pid, silentMs },
        'stall detected: the role does not answer and is replaced',
      );
      child.kill('SIGKILL');
    }, 5000);
    return new Promise((resolve) => {
      const end = (code: number | null, signal: string | null): void => {
        clearInterval(watch);
        held.child = null;
        resolve({ code, signal });
      };
      child.on('error', () => end(null, null));
      child.on('exit', end);
    });
  }
}

/** The role's side: says that it is ready and goes on saying that it lives. */
export function reportToSupervisor(address: string | null): void {
  if (process.send === undefined) return;
  const say = (message: RoleMessage): void => {
    // The channel may close while we speak; the disconnect handler stops the role then.
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  };
  say({ type: 'ready', address });
  setInterval(() => say({ type: 'beat' }), 2000).unref();
}
