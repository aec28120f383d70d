import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import type { Log } from '../telemetry/index.ts';
import type { LoopHealth } from './loop.ts';
import type { WatchdogBeat, WatchdogData } from './watchdog-thread.ts';

export type WatchdogOptions = {
  loops: () => readonly LoopHealth[];
  blockedMs: number;
  log: Log;
  /** How the thread's own log is made: it cannot use the one of a thread that is blocked. */
  logOptions: Pick<WatchdogData['log'], 'level' | 'format' | 'base'>;
};

const tickMs = 500;
const restartMs = 10_000;

// Node 20 runs no TypeScript: from the sources (tests) the thread is started from the build.
const entry = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/src/resilience/watchdog-thread.js' : './watchdog-thread.js',
  import.meta.url,
);

/** A thread that hears this one, and ends the process with code 9 when it has been blocked for too long. */
export class Watchdog {
  readonly #options: WatchdogOptions;
  #worker: Worker | null = null;
  #timer: NodeJS.Timeout | null = null;
  #again: NodeJS.Timeout | null = null;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  start(): void {
    const { blockedMs, logOptions, log } = this.#options;
    // Somebody looks at it with a debugger, and may hold it for as long as they like.
    if (inspectorUrl() !== undefined) {
      log.warn({}, 'a debugger may hold this process: its watchdog is off');
      return;
    }
    const data: WatchdogData = {
      blockedMs,
      tickMs,
      pid: process.pid,
      log: { ...logOptions, isTTY: process.stderr.isTTY === true },
    };
    const worker = new Worker(entry, {
      name: 'outrider watchdog',
      execArgv: [],
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 },
    });
    worker.unref();
    this.#worker = worker;
    worker.on('error', (error) => this.#lose(worker, error));
    worker.on('exit', () => this.#lose(worker, null));
    // One at once: a role that blocks in its first moments tells its loops as well.
    worker.postMessage(this.#beat());
    this.#timer = setInterval(() => worker.postMessage(this.#beat()), tickMs);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    for (const timer of [this.#timer, this.#again]) if (timer !== null) clearTimeout(timer);
    await worker?.terminate();
  }

  #beat(): WatchdogBeat {
    return {
      loops: this.#options.loops().map(({ name, turns, lastError, backlog }) => ({
        name,
        turns,
        ...(backlog === null ? {} : { backlog }),
        ...(lastError === null ? {} : { lastError: lastError.slice(0, 200) }),
      })),
    };
  }

  /** Without it the parent or the service manager still watches. */
  #lose(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#options.log.warn({ error }, 'the watchdog thread ended and will be started again');
    this.#again = setTimeout(() => this.start(), restartMs);
    this.#again.unref();
  }
}
