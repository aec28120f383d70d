import { Worker } from 'node:worker_threads';
import type { Config } from '../../src/config/index.ts';
import { mergeOutcomes, type Outcome } from './measure.ts';
import type { RunPlan } from './plan.ts';
import { makeSettings } from './settings.ts';
import { Simulation } from './simulation.ts';
import type { Publisher } from './web.ts';

/** A run, or a part of it, in a form that can be sent to a thread. */
export type PartOrder = {
  publishers: readonly Publisher[];
  changes: readonly (readonly [string, string])[];
  config?: Config;
  plan: Omit<RunPlan, 'onDay'>;
};

/** What a thread says: how far it is, and at last what it came to. */
export type PartWord = { day: number } | { outcome: Outcome };

// Node 20 runs no TypeScript: from the sources the threads are started from the build.
const entry = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/bench/simulate/part-thread.js' : './part-thread.js',
  import.meta.url,
);

/** Runs here. */
export function runPart(order: PartOrder, onDay: (day: number) => void): Outcome {
  const settings = makeSettings(order.changes, order.config);
  const simulation = new Simulation(order.publishers, settings, { ...order.plan, onDay });
  simulation.run();
  return simulation.outcome();
}

/**
 * Runs in parts, some at once. Domains meet only in the seats of fetchers and in how polls are shared: each part has every
 * n-th domain, its share of seats, and shares the polls of its own, which of ten thousand are shared as those of all.
 */
export async function runParts(
  order: PartOrder,
  { parts, threads }: { parts: number; threads: number },
  onDay: (day: number) => void,
): Promise<Outcome> {
  if (parts === 1) return runPart(order, onDay);
  const outcomes: Outcome[] = [];
  const days = new Float64Array(parts);
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < parts) {
      const part = next;
      next += 1;
      const publishers = order.publishers.filter((_one, domain) => domain % parts === part);
      const plan = { ...order.plan, part, parts };
      outcomes[part] = await runInThread({ ...order, publishers, plan }, (day) => {
        days[part] = day;
        onDay(days.reduce((sum, one) => sum + one, 0) / parts);
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, parts) }, work));
  return mergeOutcomes(outcomes);
}

function runInThread(order: PartOrder, onDay: (day: number) => void): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(entry, { workerData: order });
    worker.on('message', (word: PartWord) => {
      if ('day' in word) onDay(word.day);
      else {
        onDay(order.plan.days);
        resolve(word.outcome);
      }
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`a thread of the simulation ended with ${code}`)));
  });
}
