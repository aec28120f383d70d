import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveWorker } from '../../src/frontier/index.ts';
import { createChecked } from './checked.ts';
import { type ApiLab, startApiLab } from './lab.ts';

let lab: ApiLab;
beforeAll(async () => {
  lab = await startApiLab();
  lab = { ...lab, ask: await createChecked(lab) };
});
afterAll(() => lab.close());

test('a process tells its loops in words, whatever else it wrote down', async () => {
  const turned = Date.parse('2026-01-02T03:04:05Z');
  const worker = { id: 'w1', role: 'fetch', pool: 'default', version: '1', host: 'h', pid: 1 } as const;
  const loop = { intervalMs: 500, turns: 9, errorsInRow: 0, lastError: null };
  await saveWorker(lab.database.pool, {
    ...worker,
    state: {
      outage: true,
      memory: { usedBytes: 100, limitBytes: 400 },
      restarts: { last: [{ at: Date.now() - 1000, reason: 'stall', why: 'it stalled' }, 'nonsense'] },
      loops: [
        { ...loop, name: 'heartbeat', lastTurnAt: turned, backlog: 12 },
        { ...loop, name: 'lease', lastTurnAt: turned - 600_000 },
        { ...loop, name: 'renew', lastTurnAt: turned, errorsInRow: 3, lastError: 'deadlock detected' },
        'nonsense',
        { name: 'old' },
      ],
    },
  });
  const { items } = (await lab.ask('GET', '/api/v1/workers')).body;
  expect(items).toMatchObject([{ ...worker, isAlive: true, isAway: true, leases: 0 }]);
  expect(items[0].memory).toEqual({ usedBytes: 100, limitBytes: 400 });
  expect(items[0].restarts).toEqual({
    lastHour: 1,
    sentence: 'It was restarted once in the last hour, last because it stalled.',
  });
  expect(items[0].loops).toEqual([
    {
      name: 'heartbeat',
      state: 'ok',
      sentence: 'The heartbeat loop turned a moment ago; 12 wait.',
      lastTurnAt: '2026-01-02T03:04:05.000Z',
      errorsInRow: 0,
      lastError: null,
      backlog: 12,
    },
    expect.objectContaining({ state: 'still', sentence: 'The lease loop has not turned for 10 min.' }),
    expect.objectContaining({
      state: 'failing',
      sentence: 'The renew loop failed 3 times in a row: deadlock detected',
      errorsInRow: 3,
      lastError: 'deadlock detected',
    }),
    expect.objectContaining({ name: 'old', state: 'ok', lastTurnAt: null }),
  ]);
});
