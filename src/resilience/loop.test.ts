import { describe, expect, test } from 'vitest';
import { type Clock, createLog, createMetrics } from '../telemetry/index.ts';
import { type LoopHealth, type LoopOptions, type LoopVoice, runLoop, type TurnResult } from './loop.ts';

/** Runs a loop over scripted turns; the last turn stops it. Waits are noted instead of waited for. */
async function script(
  turns: readonly (TurnResult | Error)[],
  intervalMs = 1000,
  change: Partial<LoopOptions> & { during?: (voice: LoopVoice, health: LoopHealth) => void } = {},
) {
  const waits: number[] = [];
  const lines: { level: string; errorsInRow: number }[] = [];
  let at = 0;
  const clock: Clock = {
    now: () => at,
    monotonic: () => at,
    wait: async (ms, signal) => {
      if (signal?.aborted) return;
      waits.push(ms);
      at += ms;
    },
  };
  const stream = { write: (line: string) => Boolean(lines.push(JSON.parse(line))) };
  const metrics = createMetrics();
  const stop = new AbortController();
  let health: LoopHealth | undefined;
  let turn = 0;
  const { during, ...options } = change;
  await runLoop({
    name: 'test',
    intervalMs,
    signal: stop.signal,
    clock,
    log: createLog({ level: 'debug', format: 'json', stream: stream as unknown as NodeJS.WritableStream }),
    metrics,
    register: (one) => {
      health = one;
    },
    turn: async (_signal, voice) => {
      during?.(voice, health!);
      const next = turns[turn]!;
      turn += 1;
      if (turn === turns.length) stop.abort();
      if (next instanceof Error) throw next;
      return next;
    },
    ...options,
  });
  return { waits, lines, health: health!, metrics, turn };
}

const failures = (count: number): Error[] => Array.from({ length: count }, () => new Error('no luck'));

describe('runLoop', () => {
  test('an idle turn is followed by the pause, with a tenth of jitter', async () => {
    const { waits, turn } = await script(['idle', 'idle', 'idle', 'idle']);
    expect(turn).toBe(4);
    expect(waits).toHaveLength(3);
    for (const wait of waits) {
      expect(wait).toBeGreaterThanOrEqual(900);
      expect(wait).toBeLessThanOrEqual(1100);
    }
  });

  test('a busy turn is followed by the next at once', async () => {
    expect((await script(['busy', 'busy', 'idle'])).waits).toEqual([0, 0]);
  });

  test('a turn that throws is tried again, later each time and half a minute at most', async () => {
    const { waits, turn } = await script([...failures(14), 'idle']);
    expect(turn).toBe(15);
    for (const [index, wait] of waits.entries()) {
      const wanted = Math.min(30_000, 250 * 2 ** Math.min(index + 1, 10));
      expect(wait).toBeGreaterThanOrEqual(wanted * 0.9);
      expect(wait).toBeLessThanOrEqual(wanted * 1.1);
    }
  });

  test('one good turn forgives all failures', async () => {
    const { waits, health } = await script([...failures(5), 'idle', new Error('again'), 'idle', 'idle']);
    expect(waits[6]).toBeLessThanOrEqual(550);
    expect(health).toMatchObject({ errorsInRow: 0, lastError: null });
  });

  test('health and metrics say how it goes', async () => {
    const { health, metrics } = await script(['idle', ...failures(3), 'idle', new Error('at the end')]);
    expect(health.turns).toBe(5);
    expect(health.lastTurnAt).not.toBeNull();
    const text = await metrics.registry.metrics();
    expect(text).toContain('outrider_loop_turns_total{loop="test"} 5');
    expect(text).toContain('outrider_loop_errors_total{loop="test"} 3');
  });

  test('the first failure is a warning, the tenth the one alertable line', async () => {
    const { lines } = await script([...failures(12), 'idle']);
    expect(lines.map((line) => line.level)).toEqual([
      'warn',
      ...Array<string>(8).fill('debug'),
      'error',
      'debug',
      'debug',
    ]);
    expect(lines.map((line) => line.errorsInRow)).toEqual(
      Array.from({ length: 12 }, (_, index) => index + 1),
    );
  });

  test('a failure while stopping is no failure', async () => {
    const { health, lines } = await script(['idle', new Error('connection closed')]);
    expect(health.errorsInRow).toBe(0);
    expect(lines).toEqual([]);
  });

  test('a turn says that it gets on, that it rests on purpose, and what waits', async () => {
    const seen: [signs: number, patienceMs: number, backlog: number | null][] = [];
    const { health } = await script(['idle'], 1000, {
      patienceMs: 50,
      during: (voice, one) => {
        const note = (): unknown => seen.push([one.signs, one.patienceMs, one.backlog]);
        note();
        voice.progress();
        note();
        voice.rest(700);
        voice.backlog(12);
        note();
      },
    });
    expect(seen).toEqual([
      [1, 50, null],
      [2, 50, null],
      [3, 750, 12],
    ]);
    expect(health).toMatchObject({ signs: 4, backlog: 12 });
  });

  test('while it waits for its next turn it may be silent for as long', async () => {
    const patience: number[] = [];
    const { health } = await script(['idle', 'idle'], 1000, {
      during: (_voice, one) => patience.push(one.patienceMs),
    });
    expect(patience).toEqual([0, 0]);
    expect(health.patienceMs).toBeGreaterThanOrEqual(900);
  });

  test('a loop that ends by what is around its turns is begun again, told and counted', async () => {
    const metrics = createMetrics();
    let broken = 2;
    metrics.loopTurns.inc = () => {
      broken -= 1;
      if (broken >= 0) throw new Error('the registry is broken');
    };
    const { turn, lines } = await script(['idle', 'idle', 'idle', 'idle'], 1000, { metrics });
    expect(turn).toBe(4);
    expect(lines.map(({ level }) => level)).toEqual(['error', 'error']);
    expect(await metrics.registry.metrics()).toContain('outrider_loop_restarts_total{loop="test"} 2');
  });
});
