import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { dumpConfig, renderEnvExample, renderReference } from './describe.ts';
import { loadConfig } from './load.ts';
import { listSettings } from './settings.ts';

const fileOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

// After a change of the table: npm run build && node scripts/write-reference.mjs
describe('files made from the table are in step', () => {
  test('docs/reference/configuration.md', () => {
    expect(fileOf('docs/reference/configuration.md')).toBe(renderReference());
  });
  test('.env.example', () => {
    expect(fileOf('.env.example')).toBe(renderEnvExample());
  });
});

test('the reference names every setting with its variable', () => {
  const page = renderReference();
  for (const { key, env, description } of listSettings()) {
    expect(page).toContain(`| \`${key}\` | \`${env}\` |`);
    expect(page).toContain(description);
  }
});

test('no two settings share a key or a variable', () => {
  const settings = listSettings();
  expect(new Set(settings.map((one) => one.key)).size).toBe(settings.length);
  expect(new Set(settings.map((one) => one.env)).size).toBe(settings.length);
});

test('.env.example changes nothing when it is taken as it is', () => {
  const lines = renderEnvExample()
    .split('\n')
    .filter((line) => /^#[A-Z0-9_]+=/.test(line))
    .map((line) => line.slice(1).split('='));
  const env = Object.fromEntries(lines.map(([name, ...value]) => [name, value.join('=')]));
  expect(Object.keys(env)).toHaveLength(listSettings().length);
  expect(loadConfig({ env }).config).toEqual(loadConfig({ env: {} }).config);
});

describe('dumpConfig', () => {
  const secret = 'postgresql://app:hunter2@db.example/outrider';

  test('masks secrets and says where each value came from', () => {
    const dump = dumpConfig(loadConfig({ env: { DATABASE_URL: secret, OUTRIDER_API_PORT: '9000' } }));
    const byKey = new Map(dump.map((line) => [line.key, line]));
    expect(byKey.get('database.url')).toEqual({
      key: 'database.url',
      env: 'DATABASE_URL',
      value: '********',
      origin: 'environment',
    });
    expect(byKey.get('api.port')).toMatchObject({ value: 9000, origin: 'environment' });
    expect(byKey.get('fetch.batch')).toMatchObject({ value: 50, origin: 'default' });
    expect(JSON.stringify(dump)).not.toContain('hunter2');
  });

  test('a secret that is not set is shown as not set', () => {
    const line = dumpConfig(loadConfig({ env: {} })).find((one) => one.key === 'database.url');
    expect(line?.value).toBeNull();
  });

  test('lists every setting', () => {
    expect(dumpConfig(loadConfig({ env: {} }))).toHaveLength(listSettings().length);
  });
});
