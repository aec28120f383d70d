import { afterEach, describe, expect, it } from 'vitest';
import type { LoopVoice } from '../resilience/index.ts';
import { type Clock, createLog, createMetrics } from '../telemetry/index.ts';
import { createHttpClient } from './client/index.ts';
import { respond, startRawServer } from './client/raw-server.fixture.ts';
import { OutageWatch } from './outage.ts';
import { OutageGate } from './outage-gate.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const voice: LoopVoice = { progress: () => undefined, rest: () => undefined, backlog: () => undefined };

/** A gate whose waits are noted instead of waited for; `onWait` is what happens meanwhile. */
async function setUp(options: {
  check?: 'answers' | 'private' | 'nobody';
  onWait?: (watch: OutageWatch) => void;
}) {
  const server = await startRawServer((socket) => {
    if (options.check !== 'nobody') socket.write(respond('503 Busy', {}));
  });
  const client = createHttpClient({
    userAgent: 't',
    allowNetworks: options.check === 'private' ? [] : [`127.0.0.0/8:${server.port}`],
    headersTimeoutMs: 200,
    networkLimits: { maxPerDomain: 0, maxPerNetwork: 0, gapMs: 0 },
  });
  cleanups.push(
    () => server.close(),
    () => client.close(),
  );
  const checkUrl = options.check === undefined ? null : `http://127.0.0.1:${server.port}/`;
  let now = 0;
  const waits: number[] = [];
  const watch = new OutageWatch(() => now);
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    wait: async (ms) => {
      waits.push(ms);
      now += ms;
      options.onWait?.(watch);
    },
  };
  const lines: string[] = [];
  const stream = { write: (line: string) => Boolean(lines.push((JSON.parse(line) as { msg: string }).msg)) };
  const metrics = createMetrics();
  const gate = new OutageGate({
    watch,
    client,
    checkUrl,
    signal: new AbortController().signal,
    clock,
    log: createLog({ level: 'info', format: 'json', stream: stream as unknown as NodeJS.WritableStream }),
    metrics,
  });
  const failSix = (): void => {
    for (let host = 1n; host <= 6n; host += 1n) watch.note(host, 'failed');
  };
  const gauge = async (): Promise<number> => (await metrics.outage.get()).values[0]!.value;
  return { gate, watch, waits, lines, failSix, gauge };
}

describe('the gate of fetching', () => {
  it('is open while nobody suspects anything', async () => {
    const { gate, waits } = await setUp({});
    expect(await gate.allow(7, 3, voice)).toBe(7);
    expect(waits).toEqual([]);
  });

  it('lets requests under way end first', async () => {
    const { gate, failSix, waits, gauge } = await setUp({});
    failSix();
    expect(await gate.allow(7, 3, voice)).toBe(0);
    expect(waits).toEqual([200]);
    expect(await gauge()).toBe(0);
  });

  it('without a page to ask lets one domain through each half minute, and opens when somebody answers', async () => {
    const { gate, watch, failSix, waits, lines, gauge } = await setUp({});
    failSix();
    expect(await gate.allow(7, 0, voice)).toBe(1);
    expect(await gate.allow(7, 0, voice)).toBe(1);
    expect(waits).toEqual([30_000, 30_000]);
    expect([gate.isAway, await gauge()]).toEqual([true, 1]);
    watch.note(9n, 'reached');
    expect(await gate.allow(7, 1, voice)).toBe(7);
    expect([gate.isAway, await gauge()]).toEqual([false, 0]);
    expect(lines).toEqual([
      expect.stringContaining('fetching pauses'),
      expect.stringContaining('somebody answers again'),
    ]);
  });

  it('with a page that answers, whatever it says, stays open: the hosts are dead, not we', async () => {
    const { gate, failSix, waits, lines, watch } = await setUp({ check: 'answers' });
    failSix();
    expect(await gate.allow(7, 0, voice)).toBe(7);
    failSix();
    expect(watch.isSuspected).toBe(false);
    expect(waits).toEqual([]);
    expect(lines).toEqual([]);
  });

  it('with a page that does not answer asks no publisher at all', async () => {
    const { gate, failSix, waits } = await setUp({ check: 'nobody' });
    failSix();
    expect(await gate.allow(7, 0, voice)).toBe(0);
    expect(waits).toEqual([30_000]);
    expect(gate.isAway).toBe(true);
  });

  it('opens after the wait when a run that was under way has heard somebody', async () => {
    const { gate, failSix } = await setUp({ onWait: (watch) => watch.note(1n, 'reached') });
    failSix();
    expect(await gate.allow(7, 0, voice)).toBe(7);
    expect(gate.isAway).toBe(false);
  });

  it('with a page that may not be asked says so and does without', async () => {
    const { gate, failSix, lines } = await setUp({ check: 'private' });
    failSix();
    expect(await gate.allow(7, 0, voice)).toBe(1);
    expect(lines[0]).toContain('may not be asked');
  });
});
