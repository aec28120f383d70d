import { type ChildProcess, spawn } from 'node:child_process';
import { EXIT } from '../errors/index.ts';
import type { Clock, Log } from '../telemetry/index.ts';
import { inspectProcess } from './process-state.ts';
import { addRestart, type RestartHistory, type RestartReason, reasonOf, restartWords } from './restarts.ts';
import type { RoleMessage, SupervisorMessage } from './role-messages.ts';

/** A role process to keep alive. */
export type RoleSpec = { name: string; args: readonly string[] };

export type SupervisorOptions = {
  /** Program the roles are started with. */
  entry: string;
  roles: readonly RoleSpec[];
  env: NodeJS.ProcessEnv;
  graceMs: number;
  /** How long a role may say nothing. */
  silentMs: number;
  clock: Clock;
  log: Log;
  /** Called when a role says something: `{ type: 'ready', address? }` once, then heartbeats. */
  onMessage?: (role: RoleSpec, message: RoleMessage) => void;
  /** Called when a role ends with a code that restarting cannot mend (bad configuration, a busy port). */
  onHopeless?: (role: RoleSpec, code: number) => void;
};

type Held = {
  spec: RoleSpec;
  child: ChildProcess | null;
  startedAt: number;
  isReady: boolean;
  /** Ticks since it was heard last. */
  silentTicks: number;
  loops: readonly object[];
  /** It was replaced because it said nothing: the signal that ended it was ours. */
  isStalled: boolean;
  failures: number;
  history: RestartHistory;
  done: Promise<void>;
};

const tickMs = 1000;
const stableMs = 60_000;
const maxBackoffMs = 30_000;
// Usage, busy port, unsupported platform: the same start would end the same way.
const hopelessCodes = new Set<number>([EXIT.usage, EXIT.busyPort, EXIT.unsupportedPlatform]);

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

  /** Every role has said that it is ready. */
  get isReady(): boolean {
    return this.#held.every((held) => held.isReady);
  }

  /** Starts every role. */
  start(): void {
    for (const spec of this.#options.roles) {
      const held: Held = {
        spec,
        child: null,
        startedAt: 0,
        isReady: false,
        silentTicks: 0,
        loops: [],
        isStalled: false,
        failures: 0,
        history: { counts: {}, last: [] },
        done: Promise.resolve(),
      };
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
    for (const { spec, child } of this.#held) {
      if (child === null || child.exitCode !== null || child.signalCode !== null) continue;
      this.#options.log.warn(
        { name: spec.name, pid: child.pid, ...stateOf(child) },
        `${spec.name} did not stop within the grace period and is killed; its leases will expire`,
      );
      child.kill('SIGKILL');
    }
    await all;
  }

  /** Ends every role at once, for somebody who has asked twice. */
  kill(): void {
    this.#stopping.abort();
    for (const { child } of this.#held) child?.kill('SIGKILL');
  }

  async #keep(held: Held): Promise<void> {
    const { clock } = this.#options;
    const { signal: stopping } = this.#stopping;
    while (!stopping.aborted) {
      const { code, signal } = await this.#runOnce(held);
      if (stopping.aborted) return;
      if (code !== null && hopelessCodes.has(code)) {
        this.#options.onHopeless?.(held.spec, code);
        return;
      }
      const reason = held.isStalled ? 'stall' : reasonOf(code, signal);
      held.history = addRestart(held.history, { at: clock.now(), reason });
      const pauseMs = this.#pauseMs(held, reason);
      this.#tellEnd(held, { code, signal, reason, pauseMs });
      await clock.wait(pauseMs, stopping);
    }
  }

  /** Who lived for a while is started again soon; who left for want of memory, at once. */
  #pauseMs(held: Held, reason: RestartReason): number {
    const wasStable = this.#options.clock.monotonic() - held.startedAt > stableMs;
    if (wasStable && reason === 'memory') {
      held.failures = 0;
      return 0;
    }
    held.failures = wasStable ? 1 : held.failures + 1;
    return Math.min(maxBackoffMs, 250 * 2 ** Math.min(held.failures, 10));
  }

  #tellEnd(
    { spec: { name }, failures }: Held,
    end: { code: number | null; signal: string | null; reason: RestartReason; pauseMs: number },
  ): void {
    const { log } = this.#options;
    const { code, signal, reason, pauseMs } = end;
    // A role that leaves in good order to be started anew is no failure, unless it does so all the time.
    const level = reason === 'memory' && failures === 0 ? 'info' : 'warn';
    const advice =
      reason === 'memory' && failures > 1 ? '; watchdog.memory_limit_mb is too low for what it does' : '';
    log[level](
      { name, code, signal, reason, restartInMs: pauseMs },
      `${name} ended and will be started again: ${restartWords(reason)}${advice}`,
    );
  }

  #runOnce(held: Held): Promise<{ code: number | null; signal: string | null }> {
    const { entry, env, clock, log } = this.#options;
    const child = spawn(process.execPath, [entry, ...held.spec.args], {
      env: { ...env, OUTRIDER_ROLE_CHILD: '1' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    Object.assign(held, { child, startedAt: clock.monotonic(), silentTicks: 0, loops: [], isStalled: false });
    child.on('message', (message: RoleMessage) => this.#hear(held, child, message));
    // Counted in ticks: when this process itself was stopped for a while, nobody has been silent.
    const watch = setInterval(() => {
      held.silentTicks += 1;
      if (!held.isStalled && held.silentTicks * tickMs >= this.#options.silentMs) this.#replace(held, child);
    }, tickMs);
    return new Promise((resolve) => {
      const end = (code: number | null, signal: string | null): void => {
        clearInterval(watch);
        held.child = null;
        held.isReady = false;
        resolve({ code, signal });
      };
      child.on('error', (error) => {
        log.error({ error, name: held.spec.name }, 'the role could not be started, or not be reached');
        // One that runs all the same ends by its own event.
        if (child.pid === undefined) end(null, null);
      });
      child.on('exit', end);
    });
  }

  #hear(held: Held, child: ChildProcess, message: RoleMessage): void {
    held.silentTicks = 0;
    if (message.type === 'beat') held.loops = message.loops;
    else {
      held.isReady = true;
      const answer: SupervisorMessage = { type: 'restarts', history: held.history };
      // The role may end while it is spoken to.
      if (child.connected) child.send(answer, () => undefined);
    }
    this.#options.onMessage?.(held.spec, message);
  }

  /** Says what can be seen from outside, then ends it; whatever it held is leased anew when its leases expire. */
  #replace(held: Held, child: ChildProcess): void {
    const { name } = held.spec;
    held.isStalled = true;
    this.#options.log.error(
      {
        name,
        pid: child.pid,
        silentSeconds: Math.round((held.silentTicks * tickMs) / 1000),
        ...stateOf(child),
        loops: held.loops,
      },
      `stall detected: ${name} does not answer and is replaced`,
    );
    child.kill('SIGKILL');
  }
}

const stateOf = ({ pid }: ChildProcess): object => (pid === undefined ? {} : (inspectProcess(pid) ?? {}));
