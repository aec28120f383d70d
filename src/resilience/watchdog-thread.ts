import { writeSync } from 'node:fs';
import { type Debugger, Session } from 'node:inspector/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { EXIT } from '../errors/index.ts';
import { createLog, type LogOptions } from '../telemetry/index.ts';

/** What the thread is given when it begins. */
export type WatchdogData = {
  blockedMs: number;
  tickMs: number;
  pid: number;
  log: Pick<LogOptions, 'level' | 'format' | 'base'> & { isTTY: boolean };
};

/** What the main thread tells it once a second. */
export type WatchdogBeat = { loops: readonly object[] };

// How long the main thread has to say where it stands, and then to leave. On a busy machine a second is not rare: it
// names every script first.
const answerMs = 6000;
const framesTold = 15;

// Ours is the only way out: the stream of the process is served by the thread that is blocked.
const stream = {
  isTTY: (workerData as WatchdogData).log.isTTY,
  write: (line: string): boolean => {
    for (let tries = 1; ; tries += 1) {
      try {
        writeSync(2, line);
        return true;
      } catch (error) {
        // A pipe that is full: whoever reads it gets a moment.
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || tries === 50) return false;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      }
    }
  },
};

/** Where the main thread stands, innermost first; null: it could not be interrupted. */
async function findPlace(session: Session): Promise<string[] | null> {
  const files = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params }) => void files.set(params.scriptId, params.url));
  const paused = new Promise<Debugger.CallFrame[]>((resolve) => {
    session.once('Debugger.paused', ({ params }) => resolve(params.callFrames));
  });
  const asked = session.post('Debugger.enable').then(() => session.post('Debugger.pause'));
  const late = delay(answerMs, null);
  const frames = await Promise.race([asked.then(() => paused), late]);
  return (
    frames?.slice(0, framesTold).map(({ functionName, location, url }) => {
      const file = (files.get(location.scriptId) ?? url).replace(/^file:\/\//, '');
      return `${functionName || '(anonymous)'} (${file}:${location.lineNumber + 1})`;
    }) ?? null
  );
}

/** Makes the main thread leave with our code; where it cannot be reached the whole process is killed. */
async function endProcess(session: Session | null): Promise<void> {
  // Only the main thread can end a process with a code. While it is paused it still evaluates.
  void session
    ?.post('Runtime.evaluate', { expression: `process.reallyExit(${EXIT.stalled})` })
    .catch(() => null);
  await delay(answerMs);
  process.kill(process.pid, 'SIGKILL');
}

function watch({ blockedMs, tickMs, pid, log: options }: WatchdogData): void {
  const log = createLog({ ...options, stream: stream as unknown as NodeJS.WritableStream });
  let last: WatchdogBeat = { loops: [] };
  let silentMs = 0;
  parentPort!.on('message', (beat: WatchdogBeat) => {
    last = beat;
    silentMs = 0;
  });
  // Counted in ticks: a process that was stopped as a whole and goes on has not been blocked.
  const timer = setInterval(() => {
    silentMs += tickMs;
    if (silentMs < blockedMs) return;
    clearInterval(timer);
    void tell();
  }, tickMs);
  const tell = async (): Promise<void> => {
    const { rss, heapUsed } = process.memoryUsage();
    log.error(
      {
        pid,
        blockedSeconds: Math.round(silentMs / 1000),
        memoryBytes: rss,
        threadHeapBytes: heapUsed,
        ...last,
      },
      'stall detected: the event loop is blocked; the role ends to be started anew',
    );
    let session: Session | null = null;
    try {
      session = new Session();
      session.connectToMainThread();
      const place = await findPlace(session);
      log.error(
        place === null ? { pid } : { pid, place },
        place === null
          ? 'self-diagnostics: the main thread cannot be interrupted: it is inside a call to the system or to native code'
          : `self-diagnostics: it was blocked in ${place[0]}`,
      );
    } catch (error) {
      log.error({ pid, error }, 'self-diagnostics: where it was blocked could not be found out');
    }
    await endProcess(session);
  };
}

watch(workerData as WatchdogData);
