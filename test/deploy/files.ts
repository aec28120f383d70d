import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { listSettings, type NamedSetting } from '../../src/config/settings.ts';

/** The top of the repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** The text of a file of ours. */
export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** A YAML file; compose files merge what they share. */
export const readYaml = <T>(path: string): T => parse(read(path), { merge: true }) as T;

/** Every file below a folder, by its path from the top. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder)).flatMap((name) => {
    const path = join(folder, name);
    // What people put beside the compose files is theirs.
    if (/^deploy\/compose\/(secrets|backups)$/.test(path)) return [];
    return statSync(join(root, path)).isDirectory() ? filesBelow(path) : [relative('.', path)];
  });
}

/** What package.json says. */
export const manifest = JSON.parse(read('package.json')) as { version: string; engines: { node: string } };

/** Settings by the variables that set them; those of secrets also by the variable that names a file. */
export const variables: ReadonlyMap<string, NamedSetting> = new Map(
  listSettings().flatMap((setting) => [
    [setting.env, setting] as const,
    ...(setting.secret === true ? [[`${setting.env}_FILE`, setting] as const] : []),
  ]),
);

/** Variables of ours that a text names and nothing reads. */
export function unknownVariables(text: string): string[] {
  const named = text.match(
    /\b(OUTRIDER_[A-Z0-9_]+|(DATABASE_URL|AUTH_[A-Z_]+|ELASTICSEARCH_URL|LOG_(LEVEL|FORMAT))\w*)\b/g,
  );
  return [...new Set(named ?? [])].filter((name) => !variables.has(name) && name !== 'OUTRIDER_CONFIG');
}

/** What is wrong with values of variables: such as nobody reads, and secrets that stand there for everybody. */
export function problemsOfEnvironment(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    const setting = variables.get(name);
    if (setting === undefined) return unknownVariables(name).map((one) => `${one} is no setting`);
    const isFile = name.endsWith('_FILE') && setting.env !== name;
    // ${NAME:-default}: the default is what holds.
    const held = /^\$\{\w+:-(.*)\}$/.exec(value)?.[1] ?? value;
    if (isFile || held === '') return [];
    if (setting.secret === true) return [`${name} is a secret and stands in the file`];
    try {
      setting.parse(held);
      return [];
    } catch (error) {
      return [`${name} must be ${(error as Error).message}, not "${held}"`];
    }
  });
}

/** Seconds of "90s", "10min" or "45". */
export function seconds(text: string): number {
  const [, number, unit] = /^(\d+)(s|min|m)?$/.exec(text) ?? [];
  if (number === undefined) throw new Error(`"${text}" is no time`);
  return Number(number) * (unit === 'min' || unit === 'm' ? 60 : 1);
}

/** Megabytes of "2g", "768m", "1Gi" or "512M". */
export function megabytes(text: string): number {
  const [, number, unit] = /^(\d+)([kmg])i?b?$/i.exec(text) ?? [];
  if (number === undefined || unit === undefined) throw new Error(`"${text}" is no size`);
  return Number(number) * { k: 1 / 1024, m: 1, g: 1024 }[unit.toLowerCase() as 'k' | 'm' | 'g'];
}

/** Least memory of each role, in megabytes, as the guide tells people. */
export function toldMemory(): Record<string, number> {
  const rows = read('docs/guides/deploying.md').matchAll(/^\| `(\w+)`[^|]*\|[^|]*\| (\d+) MB \|$/gm);
  return Object.fromEntries([...rows].map((row) => [row[1]!, Number(row[2])]));
}
