import { readFileSync, statSync } from 'node:fs';
import { parse as parseYaml } from 'yaml';
import { AppError, EXIT, messageOf } from '../errors/index.ts';
import { type Config, listSettings, type NamedSetting } from './settings.ts';

/** Where an effective value came from. */
export type Origin = 'default' | 'environment' | 'file' | 'command line';

/** The configuration with the origin of each value by file key. */
export type LoadedConfig = { config: Config; origins: ReadonlyMap<string, Origin>; file: string | null };

export type LoadOptions = {
  env?: NodeJS.ProcessEnv;
  /** YAML file; `OUTRIDER_CONFIG` names one otherwise. */
  file?: string | undefined;
  /** Values from command-line flags, by file key; they win over everything. */
  overrides?: Readonly<Record<string, unknown>>;
  /** Names of those flags, for messages. */
  flagNames?: Readonly<Record<string, string>>;
};

// Read by other parts of the program, not settings: they must not be reported as unknown.
// OUTRIDER_TOKEN is what programs show to the API.
const otherVariables = new Set(['OUTRIDER_CONFIG', 'OUTRIDER_TEST', 'OUTRIDER_ROLE_CHILD', 'OUTRIDER_TOKEN']);

const remembered = new WeakMap<object, ReadonlyMap<string, Origin>>();

/** Where the values of a loaded configuration came from; the parts of a process are given the values alone. */
export const originsOf = (config: Config): ReadonlyMap<string, Origin> => remembered.get(config) ?? new Map();

/** Reads the configuration: command line over environment over file over default. Reports all problems at once. */
export function loadConfig(options: LoadOptions = {}): LoadedConfig {
  const env = options.env ?? process.env;
  const file = options.file ?? env.OUTRIDER_CONFIG ?? null;
  const named = listSettings();
  const problems: string[] = [];
  const fileValues = file === null ? new Map<string, unknown>() : readFileValues(file, named, problems);
  reportUnknownVariables(env, named, problems);
  const secretValues = readSecretFiles(env, named, problems);

  const origins = new Map<string, Origin>();
  const config: Record<string, Record<string, unknown>> = {};
  for (const setting of named) {
    const { value, origin } = pickValue(
      setting,
      { ...env, ...secretValues },
      fileValues,
      options.overrides ?? {},
    );
    origins.set(setting.key, origin);
    // What something else overrules today holds tomorrow, when nobody looks.
    if (origin !== 'file' && fileValues.has(setting.key)) checkFileValue(setting, fileValues, problems);
    config[setting.group] ??= {};
    try {
      config[setting.group]![setting.name] = origin === 'default' ? setting.default : setting.parse(value);
    } catch (error) {
      const where = {
        environment: setting.env,
        'command line': options.flagNames?.[setting.key] ?? setting.key,
        file: setting.key,
        default: setting.key,
      }[origin];
      problems.push(`${where} must be ${messageOf(error)}${butIs(setting, value)}`);
    }
  }
  if (problems.length > 0) throw configError(problems, file);
  remembered.set(config, origins);
  return { config: config as Config, origins, file };
}

function checkFileValue(
  setting: NamedSetting,
  fileValues: ReadonlyMap<string, unknown>,
  problems: string[],
): void {
  const value = fileValues.get(setting.key);
  try {
    setting.parse(value);
  } catch (error) {
    problems.push(`${setting.key} must be ${messageOf(error)}${butIs(setting, value)}`);
  }
}

/** What was found instead; a list or a group as it is written. */
function butIs({ secret }: NamedSetting, value: unknown): string {
  if (secret) return '';
  return `, not ${typeof value === 'object' ? JSON.stringify(value).slice(0, 200) : `"${String(value)}"`}`;
}

function pickValue(
  setting: NamedSetting,
  env: NodeJS.ProcessEnv,
  fileValues: ReadonlyMap<string, unknown>,
  overrides: Readonly<Record<string, unknown>>,
): { value: unknown; origin: Origin } {
  if (overrides[setting.key] !== undefined) return { value: overrides[setting.key], origin: 'command line' };
  const fromEnv = env[setting.env];
  if (fromEnv !== undefined && fromEnv !== '') return { value: fromEnv, origin: 'environment' };
  if (fileValues.has(setting.key)) return { value: fileValues.get(setting.key), origin: 'file' };
  return { value: setting.default, origin: 'default' };
}

/** A secret may stand in a file that its variable with _FILE names: service managers and containers hand them over so. */
export const secretFileOf = (setting: NamedSetting): string | null =>
  setting.secret === true ? `${setting.env}_FILE` : null;

const mostSecretBytes = 65_536;

function readSecretFiles(
  env: NodeJS.ProcessEnv,
  named: NamedSetting[],
  problems: string[],
): Record<string, string> {
  const values: Record<string, string> = {};
  for (const setting of named) {
    const variable = secretFileOf(setting);
    const path = variable === null ? undefined : env[variable];
    if (variable === null || path === undefined || path === '') continue;
    try {
      // Which of two would hold is a riddle somebody meets at night.
      if (env[setting.env]) throw new Error(`${setting.env} is set too`);
      if (statSync(path).size > mostSecretBytes) throw new Error(`${path} is larger than any secret`);
      values[setting.env] = readFileSync(path, 'utf8').trim();
      if (values[setting.env] === '') throw new Error(`${path} is empty`);
    } catch (error) {
      problems.push(`${variable} cannot be used: ${messageOf(error)}`);
    }
  }
  return values;
}

function readFileValues(file: string, named: NamedSetting[], problems: string[]): Map<string, unknown> {
  const values = new Map<string, unknown>();
  let tree: unknown;
  try {
    tree = parseYaml(readFileSync(file, 'utf8'), { maxAliasCount: 10 });
  } catch (error) {
    problems.push(`${file} cannot be read: ${messageOf(error)}`);
    return values;
  }
  if (tree === null || tree === undefined) return values;
  if (typeof tree !== 'object' || Array.isArray(tree)) {
    problems.push(`${file} must hold groups of settings, as "fetch:" with indented keys below it`);
    return values;
  }
  const known = new Set(named.map((setting) => setting.key));
  const groups = new Set(named.map((setting) => setting.group));
  for (const [group, entries] of Object.entries(tree)) {
    // All that stood in it is commented out.
    if (entries === null && groups.has(group)) continue;
    if (typeof entries !== 'object' || entries === null || Array.isArray(entries)) {
      problems.push(noGroup(group, file, { known, groups }));
      continue;
    }
    for (const [name, value] of Object.entries(entries)) {
      const key = `${group}.${name}`;
      if (known.has(key)) values.set(key, value);
      else problems.push(`${key} in ${file} is not a setting${suggestion(key, [...known])}`);
    }
  }
  return values;
}

/** What is wrong with a line that begins no group: often a setting as this documentation writes it. */
function noGroup(
  name: string,
  file: string,
  { known, groups }: { known: ReadonlySet<string>; groups: ReadonlySet<string> },
): string {
  const [group, key] = name.split('.');
  if (known.has(name))
    return `${name} in ${file} must be written as "${group}:" with "${key}:" indented below`;
  if (groups.has(name)) return `${name} in ${file} must be a group of settings`;
  return `${name} in ${file} is not a group of settings${suggestion(name, [...groups, ...known])}`;
}

function reportUnknownVariables(env: NodeJS.ProcessEnv, named: NamedSetting[], problems: string[]): void {
  const known = new Set(named.flatMap((setting) => [setting.env, secretFileOf(setting) ?? setting.env]));
  for (const variable of Object.keys(env)) {
    if (!variable.startsWith('OUTRIDER_') || known.has(variable) || otherVariables.has(variable)) continue;
    problems.push(`${variable} is not a setting${suggestion(variable, [...known])}`);
  }
}

/** " (did you mean …?)" for the nearest known name, or nothing when none is near. */
export function suggestion(wrong: string, known: readonly string[]): string {
  let best: { name: string; distance: number } | null = null;
  for (const name of known) {
    const distance = editDistance(wrong.toLowerCase(), name.toLowerCase());
    if (best === null || distance < best.distance) best = { name, distance };
  }
  return best !== null && best.distance <= Math.max(2, wrong.length / 4)
    ? ` (did you mean ${best.name}?)`
    : '';
}

function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 10 || a.length > 80) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}

function configError(problems: string[], file: string | null): AppError {
  const many = problems.length === 1 ? 'One problem' : `${problems.length} problems`;
  return new AppError(
    'config_invalid',
    `${many} in the configuration:\n${problems.map((one) => `  - ${one}`).join('\n')}`,
    {
      exitCode: EXIT.usage,
      advice: `See docs/reference/configuration.md, or run "outrider config --dump"${file ? ` after mending ${file}` : ''}.`,
    },
  );
}
