import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { buildProgram } from '../../src/cli/program.ts';
import { listSettings } from '../../src/config/settings.ts';
import { leastDistributionScore, leastSuccessRate, manyStaleLocks } from '../../src/jobs/index.ts';
import { namedCommands, unknownCommands } from '../deploy/commands.ts';
import { metricsOf, unknownMetrics } from './metrics.ts';
import { calm, troubles } from './worlds.ts';

const folder = fileURLToPath(new URL('../../deploy/prometheus/', import.meta.url));
type Rule = {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; action: string };
};
const rulesOf = (name: string): Rule[] =>
  (parse(readFileSync(`${folder}${name}`, 'utf8')) as { groups?: { rules: Rule[] }[] }).groups?.flatMap(
    (group) => group.rules,
  ) ?? [];
const files = readdirSync(folder).filter((name) => name.endsWith('.yml') && rulesOf(name).length > 0);
const rules = files.flatMap(rulesOf);

test('there are rules, and the configuration beside them names each file of them', () => {
  expect(files.sort()).toEqual(['jobs.yml', 'outrider.yml', 'processes.yml']);
  const { rule_files } = parse(readFileSync(`${folder}prometheus.yml`, 'utf8')) as { rule_files: string[] };
  expect([...rule_files].sort()).toEqual(files);
});

test.each(rules.map((rule) => [rule.alert, rule] as const))(
  '%s asks for metrics that there are, and says what to do in words that work',
  async (_alert, { expr, labels, annotations }) => {
    expect(metricsOf(expr).length).toBeGreaterThan(0);
    expect(unknownMetrics(expr)).toEqual([]);
    expect(['critical', 'warning', 'info']).toContain(labels.severity);
    expect(annotations.summary).toMatch(/\.$/);
    const program = await buildProgram();
    expect(unknownCommands(program, annotations.action)).toEqual([]);
    const keys = new Set(listSettings().map((one) => one.key));
    const groups = new Set(listSettings().map((one) => one.group));
    const named = annotations.action.match(/\b[a-z]+\.[a-z_]+\b/g) ?? [];
    expect(named.filter((key) => groups.has(key.split('.')[0]!) && !keys.has(key))).toEqual([]);
  },
);

test('the checks see what is not there', async () => {
  expect(unknownMetrics('rate(outrider_nothing_total[5m]) + outrider_jobs{status="x"}')).toEqual([
    'outrider_nothing_total',
  ]);
  expect(unknownMetrics('outrider_jobs_bucket')).toEqual(['outrider_jobs_bucket']);
  const program = await buildProgram();
  expect(namedCommands('Try "outrider sinks retry SINK", or outrider doctor.')).toHaveLength(2);
  expect(unknownCommands(program, 'outrider sinks mend SINK; outrider channels --failing')).toEqual([
    'outrider sinks mend',
  ]);
  expect(unknownCommands(program, 'outrider docter')).toEqual(['outrider docter']);
  expect(unknownCommands(program, 'outrider channels --faling')).toEqual(['outrider channels --faling']);
});

test('the numbers of the alerts on jobs are those of the doctor', () => {
  const of = (alert: string): string => rules.find((rule) => rule.alert === alert)!.expr;
  expect(of('OutriderJobsFail')).toContain(`< ${leastSuccessRate}`);
  expect(of('OutriderJobsUneven')).toContain(`< ${leastDistributionScore}`);
  expect(of('OutriderSchedulersLost')).toContain(`>= ${manyStaleLocks}`);
});

test('each alert is tried on a world of its own', () => {
  expect(Object.keys(troubles).sort()).toEqual(rules.map((rule) => rule.alert).sort());
  for (const [alert, { severity, series }] of Object.entries(troubles)) {
    expect(rules.find((rule) => rule.alert === alert)!.labels.severity, alert).toBe(severity);
    for (const name of [...Object.keys(series), ...Object.keys(calm)])
      expect(unknownMetrics(name)).toEqual([]);
  }
});

const promtool = process.env.PROMTOOL ?? 'promtool';
const isThere = spawnSync(promtool, ['--version']).status === 0;
if (!isThere)
  console.warn('SKIPPED, promtool check and test rules: promtool is not installed (Debian: prometheus)');

function runPromtool(...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(promtool, args, { encoding: 'utf8' });
  expect(status, stdout + stderr).toBe(0);
}

test.runIf(isThere)('promtool takes them', () => {
  for (const name of files) runPromtool('check', 'rules', `${folder}${name}`);
});

test.runIf(isThere)('a calm day is silent, and each trouble is heard and heard alone', () => {
  const worlds: Record<string, (typeof troubles)[string] | null> = { calm: null, ...troubles };
  const tests = Object.entries(worlds).map(([name, trouble]) => ({
    name,
    interval: '1m',
    input_series: Object.entries({ ...calm, ...trouble?.series })
      .filter(([, values]) => values !== null)
      .map(([series, values]) => ({ series, values })),
    alert_rule_test: rules.map(({ alert, labels, annotations }) => ({
      // All of it: what fires after ten minutes may fall silent later.
      alertname: alert,
      eval_time: '7h',
      exp_alerts:
        alert !== name
          ? []
          : [{ exp_labels: { ...labels, ...trouble?.labels }, exp_annotations: annotations }],
    })),
  }));
  const dir = mkdtempSync(join(tmpdir(), 'outrider-rules-'));
  try {
    // Words with numbers in them are Prometheus' business; what is compared here is which alerts there are.
    const plain = files.map((name) => {
      const tree = parse(readFileSync(`${folder}${name}`, 'utf8')) as {
        groups: { rules: Partial<Rule>[] }[];
      };
      for (const rule of tree.groups.flatMap((group) => group.rules)) delete rule.annotations;
      writeFileSync(join(dir, name), stringify(tree));
      return name;
    });
    for (const one of tests.flatMap((world) => world.alert_rule_test.flatMap((rule) => rule.exp_alerts)))
      delete (one as Partial<typeof one>).exp_annotations;
    const file = join(dir, 'worlds.yml');
    writeFileSync(file, stringify({ rule_files: plain, evaluation_interval: '10m', tests }));
    runPromtool('test', 'rules', file);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
