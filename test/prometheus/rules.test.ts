import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { leastDistributionScore, leastSuccessRate, manyStaleLocks } from '../../src/jobs/index.ts';
import { createMetrics } from '../../src/telemetry/index.ts';

const folder = fileURLToPath(new URL('../../docs/alerts/', import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith('.yml'));
type Rule = { alert: string; expr: string; annotations: { summary: string; action: string } };
const rulesOf = (name: string): Rule[] =>
  (parse(readFileSync(`${folder}${name}`, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
    (group) => group.rules,
  );

test.each(files)('%s asks only for metrics that there are, and says what to do', async (name) => {
  const known = new Set((await createMetrics().registry.getMetricsAsJSON()).map((metric) => metric.name));
  const rules = rulesOf(name);
  expect(rules.length).toBeGreaterThan(0);
  for (const { alert, expr, annotations } of rules) {
    const asked = expr.match(/outrider_[a-z_]+/g) ?? [];
    expect(asked.length, alert).toBeGreaterThan(0);
    expect(
      asked.filter((metric) => !known.has(metric)),
      alert,
    ).toEqual([]);
    expect(annotations.summary && annotations.action, alert).toBeTruthy();
  }
});

test('the numbers of the alerts on jobs are those of the doctor', () => {
  const of = (alert: string): string => rulesOf('jobs.yml').find((rule) => rule.alert === alert)!.expr;
  expect(of('OutriderJobsFail')).toContain(`< ${leastSuccessRate}`);
  expect(of('OutriderJobsUneven')).toContain(`< ${leastDistributionScore}`);
  expect(of('OutriderSchedulersLost')).toContain(`>= ${manyStaleLocks}`);
});

const promtool = process.env.PROMTOOL ?? 'promtool';
const isThere = spawnSync(promtool, ['--version']).status === 0;
if (!isThere) console.warn('SKIPPED, promtool check rules: promtool is not installed (Debian: prometheus)');

test.runIf(isThere)('promtool takes them', () => {
  for (const name of files) {
    const { status, stdout, stderr } = spawnSync(promtool, ['check', 'rules', `${folder}${name}`], {
      encoding: 'utf8',
    });
    expect(status, stdout + stderr).toBe(0);
  }
});
