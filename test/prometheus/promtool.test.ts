import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { createMetrics } from '../../src/telemetry/index.ts';

// Prometheus' own opinion of our metrics. Debian's package "prometheus" has promtool; PROMTOOL names another place.
const promtool = process.env.PROMTOOL ?? 'promtool';
const isThere = spawnSync(promtool, ['--version']).status === 0;
if (!isThere) console.warn('SKIPPED, promtool check metrics: promtool is not installed (Debian: prometheus)');

test.runIf(isThere)('promtool has nothing to say', async () => {
  const metrics = createMetrics();
  // Labelled ones are in a scrape only once they have counted something.
  for (const one of Object.values(metrics)) if ('labelNames' in one) touch(one as unknown as Labelled);
  const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], {
    input: await metrics.registry.metrics(),
    encoding: 'utf8',
  });
  expect(stdout + stderr).toBe('');
  expect(status).toBe(0);
});

type Labelled = {
  labelNames: readonly string[];
  inc?(labels: Record<string, string>): void;
  observe?(labels: Record<string, string>, value: number): void;
};

function touch(metric: Labelled): void {
  const labels = Object.fromEntries(metric.labelNames.map((name) => [name, 'x']));
  metric.inc?.(labels);
  metric.observe?.(labels, 1);
}
