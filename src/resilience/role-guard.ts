import type { Clock, Log, Metrics } from '../telemetry/index.ts';
import type { LoopHealth } from './loop.ts';
import { LoopWatch } from './loop-watch.ts';
import { describeMemory, isMemoryShort, type Memory } from './memory.ts';

/** Why a role ends by itself. */
export type GuardEnd = 'stall' | 'database' | 'memory';

/** What is found out about a role that has stalled. */
export type SelfDiagnosis = { database: string; network: string } & Record<string, unknown>;

export type RoleGuardOptions = {
  loops: () => readonly LoopHealth[];
  stallMs: number;
  /** How long the database may be away. */
  databaseMs: number;
  memory: () => Memory;
  /** Asks what a stall may come from; may hang, and is not waited for long. */
  diagnose: () => Promise<SelfDiagnosis>;
  /** Whether the database answers, by that diagnosis. */
  isDatabaseAway: (diagnosis: SelfDiagnosis) => boolean;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  tickMs?: number;
};

// One high reading may be garbage that is about to be collected.
const readingsToBelieve = 3;
const diagnosisMs = 10_000;

/** Watches a role from inside, once a second: its loops, its way to the database, its memory. Decides when it must end. */
export class RoleGuard {
  readonly #options: RoleGuardOptions;
  readonly #watch: LoopWatch;
  readonly #tickMs: number;
  readonly #ended: Promise<GuardEnd>;
  #end: (why: GuardEnd) => void = () => undefined;
  #timer: NodeJS.Timeout | null = null;
  #awayMs = 0;
  #shortReadings = 0;
  #isStalled = false;

  constructor(options: RoleGuardOptions) {
    this.#options = options;
    this.#tickMs = options.tickMs ?? 1000;
    this.#watch = new LoopWatch({ tickMs: this.#tickMs, stallMs: options.stallMs });
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Resolves when the role must end, with why. */
  get ended(): Promise<GuardEnd> {
    return this.#ended;
  }

  /** No loop has stalled. */
  get isWell(): boolean {
    return !this.#isStalled;
  }

  start(): void {
    this.#timer = setInterval(() => this.tick(), this.#tickMs);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** One look at everything. */
  tick(): void {
    this.#lookAtMemory();
    this.#lookAtDatabase();
    if (this.#isStalled) return;
    const stalled = this.#watch.tick(this.#options.loops());
    if (stalled.length === 0) return;
    this.#isStalled = true;
    void this.#tellStall(stalled);
  }

  #lookAtMemory(): void {
    const { log } = this.#options;
    const memory = this.#options.memory();
    this.#shortReadings = isMemoryShort(memory) ? this.#shortReadings + 1 : 0;
    if (this.#shortReadings !== readingsToBelieve) return;
    log.warn(
      { ...memory },
      `memory runs short: what is under way is finished, and the role is started anew. ${describeMemory(memory)}`,
    );
    this.#end('memory');
  }

  /** The heartbeat is written to the database: while it fails, the database is away. */
  #lookAtDatabase(): void {
    const { loops, databaseMs, log } = this.#options;
    const heartbeat = loops().find(({ name }) => name === 'heartbeat');
    const isAway = heartbeat !== undefined && heartbeat.errorsInRow > 0;
    this.#awayMs = isAway ? this.#awayMs + this.#tickMs : 0;
    if (this.#awayMs < databaseMs || this.#awayMs - this.#tickMs >= databaseMs) return;
    log.error(
      { awaySeconds: Math.round(this.#awayMs / 1000), reason: heartbeat?.lastError },
      'the database has been away for too long: the role ends to be started anew',
    );
    this.#end('database');
  }

  async #tellStall(stalled: readonly LoopHealth[]): Promise<void> {
    const { log, metrics, loops, memory, clock } = this.#options;
    metrics.stalls.inc();
    const names = stalled.map(({ name }) => name);
    log.error(
      {
        loops: loops().map((loop) => summaryOf(loop, names.includes(loop.name), clock.now())),
        ...memory(),
        waitsFor: countsOf(process.getActiveResourcesInfo()),
      },
      `stall detected: the ${names.join(', the ')} loop gave no sign of life`,
    );
    const diagnosis = await this.#diagnose();
    log.error({ ...diagnosis }, 'self-diagnostics: what was found at the stall');
    this.#end(this.#options.isDatabaseAway(diagnosis) ? 'database' : 'stall');
  }

  async #diagnose(): Promise<SelfDiagnosis> {
    const { clock, diagnose } = this.#options;
    const timer = new AbortController();
    const late = clock
      .wait(diagnosisMs, timer.signal)
      .then(
        (): SelfDiagnosis => ({ database: 'not asked', network: 'unknown', error: 'no diagnosis in time' }),
      );
    const found = diagnose().catch(
      (error: unknown): SelfDiagnosis => ({ database: 'not asked', network: 'unknown', error }),
    );
    const diagnosis = await Promise.race([found, late]);
    timer.abort();
    return diagnosis;
  }
}

/** A loop in few words, for a log line. */
function summaryOf(loop: LoopHealth, isStalled: boolean, now: number): object {
  return {
    name: loop.name,
    ...(isStalled ? { isStalled } : {}),
    turns: loop.turns,
    silentSeconds: loop.lastSignAt === null ? null : Math.round((now - loop.lastSignAt) / 1000),
    ...(loop.backlog === null ? {} : { backlog: loop.backlog }),
    ...(loop.lastError === null ? {} : { lastError: loop.lastError.slice(0, 200) }),
  };
}

function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
