import { describe, expect, test } from 'vitest';
import { createLog, createMetrics, systemClock } from '../telemetry/index.ts';
import { type LoopHealth, newLoop } from './loop.ts';
import type { Memory } from './memory.ts';
import { RoleGuard, type SelfDiagnosis } from './role-guard.ts';

const MB = 1024 * 1024;

/** A guard that ticks when it is told to; ten seconds are a stall, twenty without the database too many. */
function guardOf(diagnosis: SelfDiagnosis | Error = { database: 'answers', network: 'is there' }) {
  const lines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => Boolean(lines.push(JSON.parse(line))) };
  const memory: Memory = {
    usedBytes: 10 * MB,
    limitBytes: 100 * MB,
    heapUsedBytes: 10 * MB,
    heapLimitBytes: 100 * MB,
  };
  const loops: LoopHealth[] = [{ ...newLoop('heartbeat', 0), signs: 1 }, newLoop('lease', 0)];
  const metrics = createMetrics();
  const guard = new RoleGuard({
    loops: () => loops,
    stallMs: 10_000,
    databaseMs: 20_000,
    memory: () => memory,
    diagnose: async () => {
      if (diagnosis instanceof Error) throw diagnosis;
      return diagnosis;
    },
    isDatabaseAway: ({ database }) => database === 'is away',
    clock: systemClock,
    log: createLog({ level: 'info', format: 'json', stream: stream as unknown as NodeJS.WritableStream }),
    metrics,
  });
  let end: string | null = null;
  void guard.ended.then((why) => {
    end = why;
  });
  const tick = async (times: number, isTurning = true): Promise<string | null> => {
    for (let time = 0; time < times; time += 1) {
      if (isTurning) for (const loop of loops) loop.signs += 1;
      guard.tick();
    }
    await new Promise((resolve) => setImmediate(resolve));
    return end;
  };
  return { guard, loops, memory, lines, metrics, tick };
}

describe('a loop that stands still', () => {
  test('is told with what was found, and ends the role as stalled', async () => {
    const { tick, lines, guard, metrics } = guardOf();
    expect(await tick(50)).toBe(null);
    expect(await tick(9, false)).toBe(null);
    expect(guard.isWell).toBe(true);
    expect(await tick(2, false)).toBe('stall');
    expect(guard.isWell).toBe(false);
    expect(lines.map(({ msg }) => msg)).toEqual([
      'stall detected: the heartbeat, the lease loop gave no sign of life',
      'self-diagnostics: what was found at the stall',
    ]);
    expect(lines[0]).toMatchObject({ loops: [{ name: 'heartbeat', isStalled: true }, { name: 'lease' }] });
    expect(lines[1]).toMatchObject({ database: 'answers', network: 'is there' });
    expect((await metrics.stalls.get()).values[0]!.value).toBe(1);
    // It is told once.
    await tick(50, false);
    expect(lines).toHaveLength(2);
  });

  test('because the database is away, ends it by that reason', async () => {
    const { tick } = guardOf({ database: 'is away', network: 'is there' });
    expect(await tick(11, false)).toBe('database');
  });

  test('ends it though the diagnosis fails', async () => {
    const { tick, lines } = guardOf(new Error('no luck'));
    expect(await tick(11, false)).toBe('stall');
    expect(lines[1]).toMatchObject({ error: { message: 'no luck' } });
  });
});

test('a database that is away for too long ends the role; one that comes back in time does not', async () => {
  const { tick, loops, lines } = guardOf();
  loops[0]!.errorsInRow = 1;
  expect(await tick(19)).toBe(null);
  loops[0]!.errorsInRow = 0;
  expect(await tick(1)).toBe(null);
  Object.assign(loops[0]!, { errorsInRow: 4, lastError: 'connection refused' });
  expect(await tick(19)).toBe(null);
  expect(await tick(5)).toBe('database');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ awaySeconds: 20, reason: 'connection refused' });
});

describe('memory', () => {
  test('one high reading is nothing, three in a row end the role', async () => {
    const { tick, memory, lines } = guardOf();
    memory.usedBytes = 81 * MB;
    expect(await tick(2)).toBe(null);
    memory.usedBytes = 80 * MB;
    expect(await tick(1)).toBe(null);
    memory.usedBytes = 81 * MB;
    expect(await tick(2)).toBe(null);
    expect(await tick(5)).toBe('memory');
    expect(lines).toHaveLength(1);
    expect(lines[0]!.msg).toContain('It uses 81 MB, 81 % of the 100 MB it may.');
  });

  test('a heap near its own limit is as bad', async () => {
    const { tick, memory } = guardOf();
    memory.heapUsedBytes = 90 * MB;
    expect(await tick(3)).toBe('memory');
  });
});
