import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { Supervisor, type SupervisorOptions } from '../../src/resilience/index.ts';
import { type Clock, createLog, systemClock } from '../../src/telemetry/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { isRunning } from '../process/outrider.ts';

const entry = fileURLToPath(new URL('../../dist/test/process/role-script.js', import.meta.url));
type Line = Record<string, unknown> & { level: string; msg: string };

let supervisor: Supervisor | undefined;
afterEach(() => supervisor?.stop());

/** A supervisor of one role; pauses before restarts are noted instead of waited for. */
function supervise(args: string[], change: Partial<SupervisorOptions> & { lifeMs?: number } = {}) {
  const lines: Line[] = [];
  const pauses: number[] = [];
  const { lifeMs = 0, ...options } = change;
  let now = 0;
  const clock: Clock = {
    ...systemClock,
    // Each look is so much later: a life lasts at least that long.
    monotonic: () => {
      now += lifeMs;
      return now;
    },
    wait: (ms, signal) => {
      if (signal?.aborted) return Promise.resolve();
      pauses.push(ms);
      return systemClock.wait(Math.min(ms, 20), signal);
    },
  };
  const stream = { write: (line: string) => Boolean(lines.push(JSON.parse(line))) };
  supervisor = new Supervisor({
    entry,
    roles: [{ name: 'test', args }],
    env: { PATH: process.env.PATH },
    graceMs: 60_000,
    silentMs: 600_000,
    clock,
    log: createLog({ level: 'info', format: 'json', stream: stream as unknown as NodeJS.WritableStream }),
    ...options,
  });
  supervisor.start();
  const ends = (): Line[] => lines.filter(({ msg }) => msg.includes('will be started again'));
  return { lines, pauses, ends };
}

test('a role that ends soon is started again, later each time', async () => {
  const { ends, pauses } = supervise(['exit', '1']);
  await waitUntil('it ended four times', () => ends().length >= 4);
  expect(pauses.slice(0, 4)).toEqual([500, 1000, 2000, 4000]);
  expect(ends()[0]).toMatchObject({ level: 'warn', code: 1, reason: 'failed' });
});

test('one that leaves for want of memory after a while is started at once and is no failure', async () => {
  const { ends, pauses } = supervise(['exit', '7'], { lifeMs: 61_000 });
  await waitUntil('it ended three times', () => ends().length >= 3);
  expect(pauses.slice(0, 3)).toEqual([0, 0, 0]);
  expect(ends()[0]).toMatchObject({ level: 'info', reason: 'memory' });
});

test('one that does so all the time is not, and what is wrong is said', async () => {
  const { ends, pauses } = supervise(['exit', '7']);
  await waitUntil('it ended three times', () => ends().length >= 3);
  expect(pauses.slice(0, 3)).toEqual([500, 1000, 2000]);
  expect(ends()[1]!.msg).toContain('watchdog.memory_limit_mb is too low');
});

test.each([2, 4, 5])('code %d is hopeless', async (code) => {
  let given: number | null = null;
  const { ends } = supervise(['exit', String(code)], {
    onHopeless: (_role, one) => {
      given = one;
    },
  });
  await waitUntil('it is said', () => given !== null);
  expect(given).toBe(code);
  expect(ends()).toEqual([]);
});

test('one that falls silent is told with its last words and killed; one that speaks is not', async () => {
  const silent = supervise(['silent'], { silentMs: 1000 });
  await waitUntil('it was replaced', () => silent.ends().length > 0);
  expect(silent.lines[0]).toMatchObject({
    level: 'error',
    msg: 'stall detected: test does not answer and is replaced',
  });
  expect(silent.ends()[0]).toMatchObject({ signal: 'SIGKILL', reason: 'stall' });
  await supervisor!.stop();
  let beats = 0;
  const speaks = supervise(['run'], {
    silentMs: 2000,
    onMessage: (_role, { type }) => {
      if (type === 'beat') beats += 1;
    },
  });
  await waitUntil('it has spoken', () => beats > 0);
  const { pid } = supervisor!.pids()[0]!;
  // Stopped as a whole it cannot speak: that is silence too, and what it said last is told.
  process.kill(pid, 'SIGSTOP');
  await waitUntil('it was replaced', () => speaks.ends().length > 0);
  expect(speaks.lines[0]).toMatchObject({ pid, loops: [{ name: 'lease', turns: 7 }] });
  expect(isRunning(pid)).toBe(false);
});

test('asked twice, it waits for nobody', async () => {
  supervise(['run']);
  await waitUntil('it is ready', () => supervisor!.isReady);
  const { pid } = supervisor!.pids()[0]!;
  process.kill(pid, 'SIGSTOP');
  supervisor!.kill();
  await supervisor!.stop();
  expect(isRunning(pid)).toBe(false);
});
