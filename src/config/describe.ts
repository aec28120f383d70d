import type { LoadedConfig, Origin } from './load.ts';
import { type Config, listSettings } from './settings.ts';

/** One line of `config --dump`: secrets are masked, the origin is said. */
export type DumpLine = { key: string; env: string; value: unknown; origin: Origin };

/** The effective configuration, safe to print. */
export function dumpConfig(loaded: LoadedConfig): DumpLine[] {
  const config = loaded.config as unknown as Record<string, Record<string, unknown>>;
  return listSettings().map((setting) => {
    const value = config[setting.group]?.[setting.name] ?? null;
    return {
      key: setting.key,
      env: setting.env,
      value: setting.secret && value !== null ? '********' : value,
      origin: loaded.origins.get(setting.key) ?? 'default',
    };
  });
}

const shown = (value: unknown): string =>
  value === null || (Array.isArray(value) && value.length === 0)
    ? '–'
    : Array.isArray(value)
      ? value.join(',')
      : String(value);

/** docs/reference/configuration.md, made from the table; a test keeps the file in step. */
export function renderReference(): string {
  const lines = [
    '# Configuration',
    '',
    'Made from the table in `src/config/settings.ts`; a test keeps it in step.',
    'Command-line flags win over environment variables, those over the YAML file (`--config FILE` or `OUTRIDER_CONFIG`),',
    'that over the default. A secret may stand in a file that its variable with `_FILE` behind it names, as `DATABASE_URL_FILE`.',
    'Unknown keys and values that cannot be read are all listed at once and end the program with code 2.',
  ];
  let group = '';
  for (const setting of listSettings()) {
    if (setting.group !== group) {
      group = setting.group;
      lines.push(
        '',
        `## ${group}`,
        '',
        '| file key | environment | default | form | what it does |',
        '|---|---|---|---|---|',
      );
    }
    const form = setting.form.replaceAll('|', '\\|');
    lines.push(
      `| \`${setting.key}\` | \`${setting.env}\` | ${shown(setting.default)} | ${form} | ${setting.description}${setting.secret ? ' Secret.' : ''} |`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** .env.example, made from the same table. */
export function renderEnvExample(): string {
  const lines = ['# Every setting with its default. Copy to .env and load it with your service manager.'];
  for (const setting of listSettings()) {
    lines.push(
      '',
      `# ${setting.description} (${setting.form})`,
      `#${setting.env}=${shown(setting.default).replace('–', '')}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** The user agent every request carries. */
export function userAgentOf(config: Config, version: string): string {
  if (config.fetch.userAgent !== null) return config.fetch.userAgent;
  const contact = config.fetch.contactUrl === null ? '' : ` (+${config.fetch.contactUrl})`;
  return `${config.fetch.productToken}/${version}${contact}`;
}
