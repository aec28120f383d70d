import { expect, test } from 'vitest';
import { loadConfig } from '../config/index.ts';
import { createLog, createMetrics, systemClock } from '../telemetry/index.ts';
import { RunWatch, stallMsOf } from './run-watch.ts';

test('a run that is silent is given up once; one that does not end then makes the loop fall silent', async () => {
  const lines: string[] = [];
  const stream = { write: (line: string) => Boolean(lines.push(line)) };
  const metrics = createMetrics();
  const watch = new RunWatch({
    stallMs: 1000,
    intervalMs: 100,
    clock: systemClock,
    log: createLog({ level: 'info', format: 'json', stream: stream as unknown as NodeJS.WritableStream }),
    metrics,
  });
  let aborts = 0;
  const abort = (): void => {
    aborts += 1;
  };
  const run = { domain: 'silent.test', silentMs: 0, abort };
  const well = { ...run, abort: () => expect.unreachable() };
  watch.look([run, well]);
  expect(watch.health).toMatchObject({ name: 'fetch', signs: 1, turns: 1, backlog: 2 });
  run.silentMs = 1000;
  watch.look([run, well]);
  run.silentMs = 1999;
  watch.look([run, well]);
  expect(aborts).toBe(1);
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'error', domain: 'silent.test', silentSeconds: 1 });
  expect(watch.health.signs).toBe(3);
  run.silentMs = 2000;
  watch.look([run, well]);
  expect(watch.health).toMatchObject({ signs: 3, turns: 4 });
  watch.look([well]);
  expect(watch.health.signs).toBe(4);
  expect((await metrics.stalls.get()).values[0]!.value).toBe(1);
});

test('no setting makes a stall of a request that may still be answered', () => {
  const at = (timeoutMs: number, stallSeconds: number): number => {
    const overrides = { 'fetch.timeout_ms': timeoutMs, 'watchdog.stall_seconds': stallSeconds };
    return stallMsOf(loadConfig({ env: {}, overrides }).config);
  };
  expect(at(30_000, 300)).toBe(300_000);
  expect(at(30_000, 10)).toBe(300_000);
  expect(at(30_000, 3600)).toBe(3_600_000);
  // Given up before its time was over, the row would be handed back without losing a try, and asked for again for ever.
  expect(at(600_000, 300)).toBeGreaterThan(600_000);
});
