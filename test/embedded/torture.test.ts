import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { destroyServer } from '../../src/db/embedded/index.ts';
import { Driver } from './driver-process.ts';

// Kills the server, its users or all of them at random moments, again and again, and then looks for every row whose
// commit was reported. OUTRIDER_SEED repeats a run; OUTRIDER_ROUNDS makes it longer.

const seed = Number(process.env.OUTRIDER_SEED ?? Date.now() % 1_000_000);
const rounds = Number(process.env.OUTRIDER_ROUNDS ?? 8);

let home: string;
let dataDir: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'outrider-torture-'));
  dataDir = join(home, 'data');
});
afterEach(async () => {
  await destroyServer(dataDir);
  rmSync(home, { recursive: true, force: true });
});

/** mulberry32: a small generator whose whole state is the seed that is printed. */
function randomFrom(state: number): () => number {
  let a = state;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function killServer(): void {
  try {
    const pid = Number(readFileSync(join(dataDir, 'pg', 'postmaster.pid'), 'utf8').split('\n')[0]);
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // Between two lives there is nothing to kill; that is one of the moments to try.
    if (!['ENOENT', 'ESRCH'].includes(String((error as NodeJS.ErrnoException).code))) throw error;
  }
}

test(`no committed row is missing (OUTRIDER_SEED=${seed})`, async () => {
  console.log(`torture with OUTRIDER_SEED=${seed}, ${rounds} rounds`);
  const random = randomFrom(seed);
  const committed = new Set<number>();
  const first = new Driver({ home });
  await first.open({ dataDir });
  await first.query(
    'CREATE TABLE written (n int PRIMARY KEY); CREATE TABLE total (n int); INSERT INTO total VALUES (0)',
  );
  await first.close();

  for (let round = 0; round < rounds; round += 1) {
    const writers = Array.from({ length: 2 }, () => new Driver({ home }));
    const opening = writers.map(async (writer, index) => {
      const { error } = await writer.call({ call: 'open', options: { dataDir } });
      if (error === undefined) await writer.call({ call: 'write', from: round * 1_000_000 + index, step: 2 });
      else if (error.code !== 'killed') throw new Error(`could not open: ${error.message}`);
    });
    // Some blows fall while they are still starting.
    if (random() < 0.7) await Promise.all(opening);
    for (let blow = 0; blow < 3; blow += 1) {
      await delay(random() * 400);
      const target = random();
      if (target < 0.5) killServer();
      else if (target < 0.8) await writers[target < 0.65 ? 0 : 1]!.kill();
      else await Promise.all([killServer(), ...writers.map((writer) => writer.kill())]);
    }
    await Promise.all(writers.map((writer) => writer.kill()));
    await Promise.all(opening);
    for (const writer of writers) for (const n of writer.wrote) committed.add(n);
  }

  const last = new Driver({ home });
  await last.open({ dataDir });
  const found = new Set((await last.query<{ n: number }>('SELECT n FROM written')).map((row) => row.n));
  const missing = [...committed].filter((n) => !found.has(n));
  expect(missing).toEqual([]);
  expect(committed.size).toBeGreaterThan(0);
  // Both statements of a transaction happened, or neither: a repeated number counts again, so at least as many.
  const [total] = await last.query<{ n: number }>('SELECT n FROM total');
  expect(total!.n).toBeGreaterThanOrEqual(found.size);
  await last.close();
}, 300_000);
