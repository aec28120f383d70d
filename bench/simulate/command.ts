import { readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { AppError, EXIT, messageOf } from '../../src/errors/index.ts';
import { loadModel } from './from-database.ts';
import { type PartOrder, runParts } from './parts.ts';
import { listPolicies, type Policy } from './policies.ts';
import { renderMarkdown, renderRuns } from './report.ts';
import { type RunResult, resultOf } from './result.ts';
import { makeSettings, settingNames } from './settings.ts';
import { drawPublishers } from './web.ts';

const usage = `usage: npm run simulate -- [--domains 10000] [--days 30] [--seed 5] [--json]
  --warm DAYS               days whose news is not measured (a quarter unless said)
  --set NAME=VALUE          change a setting; as often as you like
  --settings FILE           JSON object of such names and values
  --policy NAME             one of the named policies
  --compare [NAME,…]        several policies on the same web (all unless named)
  --starvation-minutes N    longest wait of a due domain that is no failure (60)
  --parts N                 cut the run into parts (one for every 25,000 domains)
  --threads N               parts that run at once (as many as there are cores)
  --markdown                the comparison as a table for a page
  --from URL | --data DIR   the web as a database has seen it; with --set, both settings beside each other
  --list                    names of settings and policies`;

// By the number of domains alone: what a run comes to must not depend on the machine. More in one part do not fit the
// cache, and only the parts at work are in memory.
const domainsPerPart = 25_000;

type Changes = readonly (readonly [string, string])[];

/** Everything the command line says. */
type Wish = {
  domains: number;
  days: number;
  warmDays: number;
  seed: number;
  starvationMinutes: number;
  /** null: by the number of domains. */
  parts: number | null;
  threads: number;
  changes: Changes;
  policies: readonly Policy[];
  from: { databaseUrl?: string; dataDir?: string } | null;
  json: boolean;
  markdown: boolean;
};

type NamedRun = { name: string; result: RunResult };

const wrong = (message: string): AppError =>
  new AppError('config_invalid', message, { exitCode: EXIT.usage });

function parseWish(args: string[], { out }: Surroundings): Wish | null {
  const { values } = parseArgs({
    args: args.map((arg, at) =>
      arg === '--compare' && (args[at + 1] ?? '--').startsWith('--') ? '--compare=' : arg,
    ),
    options: {
      domains: { type: 'string', default: '10000' },
      days: { type: 'string', default: '30' },
      warm: { type: 'string' },
      seed: { type: 'string', default: '5' },
      set: { type: 'string', multiple: true, default: [] },
      settings: { type: 'string' },
      policy: { type: 'string' },
      compare: { type: 'string' },
      'starvation-minutes': { type: 'string', default: '60' },
      parts: { type: 'string' },
      threads: { type: 'string' },
      from: { type: 'string' },
      data: { type: 'string' },
      json: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help || values.list) {
    out(usage);
    if (values.list) out(listNames());
    return null;
  }
  const number = (name: string, value: string, least: number, most: number): number => {
    const parsed = Number(value);
    if (!(parsed >= least && parsed <= most))
      throw wrong(`--${name} must be from ${least} to ${most}, not "${value}"`);
    return parsed;
  };
  const days = number('days', values.days, 0.1, 3650);
  const domains = Math.floor(number('domains', values.domains, 1, 1_000_000));
  return {
    domains,
    days,
    warmDays: values.warm === undefined ? days / 4 : number('warm', values.warm, 0, days),
    seed: number('seed', values.seed, 0, 4_294_967_295),
    starvationMinutes: number('starvation-minutes', values['starvation-minutes'], 0, 1e6),
    parts: values.parts === undefined ? null : Math.floor(number('parts', values.parts, 1, domains)),
    threads:
      values.threads === undefined
        ? availableParallelism()
        : Math.floor(number('threads', values.threads, 1, 64)),
    changes: [...readSettings(values.settings), ...values.set.map(parseChange)],
    policies: findPolicies(domains, values.policy, values.compare),
    from:
      values.from !== undefined
        ? { databaseUrl: values.from }
        : values.data !== undefined
          ? { dataDir: values.data }
          : null,
    json: values.json,
    markdown: values.markdown,
  };
}

function listNames(): string {
  const policies = listPolicies(10_000).map(({ name, says }) => `  ${name.padEnd(14)} ${says}`);
  return ['', 'policies:', ...policies, '', 'settings:', ...settingNames.map((name) => `  ${name}`)].join(
    '\n',
  );
}

function parseChange(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw wrong(`--set takes NAME=VALUE, not "${text}"`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function readSettings(file: string | undefined): [string, string][] {
  if (file === undefined) return [];
  const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw wrong(`${file} must hold one object of names and values`);
  return Object.entries(parsed).map(([name, value]) => [name, String(value)]);
}

function findPolicies(
  domains: number,
  policy: string | undefined,
  compare: string | undefined,
): readonly Policy[] {
  const all = listPolicies(domains);
  if (compare === '') return all;
  const names = compare?.split(',') ?? (policy === undefined ? ['product'] : [policy]);
  return names.map((name) => {
    const found = all.find((one) => one.name === name);
    if (found === undefined)
      throw wrong(`there is no policy "${name}"; there are ${all.map((one) => one.name).join(', ')}`);
    return found;
  });
}

type Task = { wish: Wish; around: Surroundings };

/** One run; says on stderr how far it is. */
async function simulate(
  name: string,
  { wish, around }: Task,
  run: Omit<PartOrder, 'plan'> & { startMs: number; isScarce: boolean },
): Promise<NamedRun> {
  const startedAt = performance.now();
  const usedBefore = process.cpuUsage();
  let spokenAt = startedAt;
  const { startMs, isScarce, ...order } = run;
  const { seed, days, warmDays } = wish;
  const starvationMinutes = isScarce ? Number.POSITIVE_INFINITY : wish.starvationMinutes;
  const plan = { seed, startMs, days, warmDays, starvationMinutes };
  const parts = wish.parts ?? Math.ceil(order.publishers.length / domainsPerPart);
  const outcome = await runParts({ ...order, plan }, { parts, threads: wish.threads }, (day) => {
    if (performance.now() - spokenAt < 5000) return;
    spokenAt = performance.now();
    around.err(`${name}: day ${Math.floor(day)} of ${days}, ${Math.round((spokenAt - startedAt) / 1000)} s`);
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const used = process.cpuUsage(usedBefore);
  const cpuSeconds = (used.user + used.system) / 1e6;
  const result = resultOf(outcome, { seconds, cpuSeconds, days, parts });
  around.err(
    `${name}: ${result.requests.total} requests in ${result.seconds} s, ${result.cpuSeconds} s of CPU`,
  );
  return { name, result };
}

async function simulateAll({
  wish,
  around,
}: Task): Promise<{ runs: NamedRun[]; facts: object; isComparison: boolean }> {
  // A Monday, so that weeks of all runs are alike.
  const startMs = Date.parse('2026-03-02T00:00:00Z');
  if (wish.from !== null) {
    const model = await loadModel(wish.from, around.env);
    const { publishers, facts } = model;
    around.err(
      `simulate: ${publishers.length} channels of a real database, ${wish.days} days, seed ${wish.seed}`,
    );
    const given = { publishers, startMs: model.startMs, isScarce: false, config: model.config };
    const runs = [await simulate('as it is', { wish, around }, { ...given, changes: model.changes })];
    const changes = [...model.changes, ...wish.changes];
    if (wish.changes.length > 0)
      runs.push(await simulate('changed', { wish, around }, { ...given, changes }));
    return { runs, facts, isComparison: wish.changes.length > 0 };
  }
  const settings = makeSettings(wish.changes);
  around.err(
    `simulate: ${wish.domains} domains, ${wish.days} days of which the first ${wish.warmDays} are not measured, seed ${wish.seed}`,
  );
  const publishers = drawPublishers(wish.domains, wish.seed, settings.web);
  // As many as read what a thousand new domains show within the hour.
  const fetchers = ['fetchers', String(Math.max(4, Math.ceil(wish.domains / 1000)))] as const;
  const runs: NamedRun[] = [];
  for (const { name, changes, isScarce = false } of wish.policies) {
    const given = { publishers, startMs, changes: [fetchers, ...wish.changes, ...changes], isScarce };
    runs.push(await simulate(name, { wish, around }, given));
  }
  return { runs, facts: { domains: wish.domains, web: settings.web }, isComparison: false };
}

/** Where a command writes to, and the environment it reads. */
export type Surroundings = {
  out: (text: string) => void;
  err: (text: string) => void;
  env: NodeJS.ProcessEnv;
};

/** Runs the command; answers its exit code: 1 when something that must hold does not. */
export async function runCommand(args: string[], around: Surroundings): Promise<number> {
  try {
    const wish = parseWish(args, around);
    return wish === null ? EXIT.ok : await answer(wish, around);
  } catch (error) {
    const isUsage =
      error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
    if (!isUsage && !(error instanceof AppError)) throw error;
    around.err(`${messageOf(error)}\n\n${usage}`);
    return error instanceof AppError ? error.exitCode : EXIT.usage;
  }
}

async function answer(wish: Wish, around: Surroundings): Promise<number> {
  const load = Number(loadavg()[0]!.toFixed(2));
  const { runs, facts, isComparison } = await simulateAll({ wish, around });
  const problems = runs.flatMap(({ name, result }) => result.problems.map((one) => ({ run: name, ...one })));
  const { days, warmDays, seed, threads } = wish;
  const about = { ...facts, days, warmDays, seed, threads, load, changes: Object.fromEntries(wish.changes) };
  if (wish.json) {
    const single =
      runs.length === 1
        ? runs[0]!.result
        : { runs: Object.fromEntries(runs.map(({ name, result }) => [name, result])) };
    around.out(JSON.stringify({ ...about, ...single, holds: problems.length === 0 }));
  } else {
    around.out(`${JSON.stringify(about)}\n`);
    around.out(wish.markdown ? renderMarkdown(runs) : renderRuns(runs, isComparison));
    for (const { run, what, count, first } of problems)
      around.out(`\ndoes not hold in ${run}: ${what}, ${count} times; first: ${first}`);
  }
  return problems.length === 0 ? EXIT.ok : EXIT.failed;
}
