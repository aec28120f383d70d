import { type PollBounds, pollBounds } from '../../src/channels/index.ts';
import { type Config, listSettings, loadConfig, suggestion } from '../../src/config/index.ts';
import { AppError, EXIT } from '../../src/errors/index.ts';
import type { LeaseOrder } from './frontier/index.ts';
import { type WebOptions, webDefaults } from './web.ts';

/** Everything a run depends on but its web's publishers. */
export type SimulationSettings = {
  config: Config;
  web: WebOptions;
  fetchers: number;
  /** null: each channel its own. */
  feedIntervalSeconds: number | null;
  sitemapIntervalSeconds: number | null;
  bounds: PollBounds;
  adaptive: boolean;
  refresh: boolean;
  budgets: boolean;
  /** Hubs push to us. */
  websub: boolean;
  order: LeaseOrder;
};

type Own = {
  [name: string]: { description: string; set(settings: SimulationSettings, value: string): void };
};

const number = (value: string, name: string, least: number): number => {
  const parsed = Number(value);
  if (value.trim() === '' || !Number.isFinite(parsed) || parsed < least)
    throw wrong(`${name} must be a number of at least ${least}, not "${value}"`);
  return parsed;
};
const onOff = (value: string, name: string): boolean => {
  if (!['on', 'off', 'true', 'false'].includes(value))
    throw wrong(`${name} must be on or off, not "${value}"`);
  return value === 'on' || value === 'true';
};

// What is a switch, a source's own or a constant in the product.
const own: Own = {
  fetchers: {
    description: 'fetch processes',
    set: (settings, value) => {
      settings.fetchers = Math.floor(number(value, 'fetchers', 1));
    },
  },
  'polling.feed_interval_minutes': {
    description: 'minutes between polls of every feed; sitemaps have polling.sitemap_interval_minutes',
    set: (settings, value) => {
      settings.feedIntervalSeconds = Math.round(number(value, 'polling.feed_interval_minutes', 0.5) * 60);
    },
  },
  'polling.min_minutes': {
    description: 'least minutes between two polls of a channel',
    set: (settings, value) => {
      const leastSeconds = number(value, 'polling.min_minutes', 0.1) * 60;
      settings.bounds = { ...settings.bounds, leastSeconds };
    },
  },
  'polling.max_intervals': {
    description: 'most intervals a quiet channel waits',
    set: (settings, value) => {
      settings.bounds = { ...settings.bounds, mostIntervals: number(value, 'polling.max_intervals', 1) };
    },
  },
  'polling.min_intervals': {
    description: 'least part of its interval a busy channel waits',
    set: (settings, value) => {
      settings.bounds = { ...settings.bounds, leastIntervals: number(value, 'polling.min_intervals', 0) };
    },
  },
  'switch.adaptive_intervals': {
    description: 'learn when channels publish',
    set: (settings, value) => {
      settings.adaptive = onOff(value, 'switch.adaptive_intervals');
    },
  },
  'switch.refresh': {
    description: 'look at known pages again',
    set: (settings, value) => {
      settings.refresh = onOff(value, 'switch.refresh');
    },
  },
  'switch.budgets': {
    description: 'budgets of runs',
    set: (settings, value) => {
      settings.budgets = onOff(value, 'switch.budgets');
    },
  },
  websub: {
    description: 'hubs push to us',
    set: (settings, value) => {
      settings.websub = onOff(value, 'websub');
    },
  },
  'lease.order': {
    description: 'level (the product), fifo or random',
    set: (settings, value) => {
      if (value !== 'level' && value !== 'fifo' && value !== 'random')
        throw wrong(`lease.order must be level, fifo or random, not "${value}"`);
      settings.order = value;
    },
  },
};

const wrong = (message: string): AppError =>
  new AppError('config_invalid', message, { exitCode: EXIT.usage, advice: 'See docs/guides/simulation.md.' });

const webKey = (name: string): string =>
  `web.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
const webNames = new Map(Object.keys(webDefaults).map((name) => [webKey(name), name as keyof WebOptions]));

// The settings of the product that some policy of the simulation reads; others would change nothing.
const read =
  /^(fetch\.(default_delay_ms|domains_at_once|batch|lease_seconds|max_tries|timeout_ms|headers_timeout_ms)|domains\..*|polling\.sitemap_interval_minutes)$/;
const productNames = new Set(listSettings().flatMap(({ key }) => (read.test(key) ? [key] : [])));

/** Names that `--set` takes. */
export const settingNames: readonly string[] = [...Object.keys(own), ...productNames, ...webNames.keys()];

/** The product as it comes, with changes by name; what the environment says of the machine has no part in it. */
export function makeSettings(
  changes: readonly (readonly [string, string])[],
  base?: Config,
): SimulationSettings {
  const overrides: Record<string, unknown> = {};
  for (const [name, value] of changes) if (productNames.has(name)) overrides[name] = value;
  const settings: SimulationSettings = {
    config: withOverrides(base ?? loadConfig({ env: {} }).config, overrides),
    web: { ...webDefaults },
    fetchers: 4,
    feedIntervalSeconds: null,
    sitemapIntervalSeconds: null,
    bounds: pollBounds,
    adaptive: true,
    refresh: true,
    budgets: true,
    websub: true,
    order: 'level',
  };
  if (overrides['polling.sitemap_interval_minutes'] !== undefined)
    settings.sitemapIntervalSeconds = settings.config.polling.sitemapIntervalMinutes * 60;
  for (const [name, value] of changes) {
    const webName = webNames.get(name);
    if (webName !== undefined) settings.web[webName] = number(value, name, 0);
    else if (own[name] !== undefined) own[name].set(settings, value);
    else if (!productNames.has(name))
      throw wrong(`${name} is nothing that the simulation reads${suggestion(name, settingNames)}`);
  }
  return settings;
}

// Parsed and bounded as the product does it, group by group.
function withOverrides(base: Config, overrides: Readonly<Record<string, unknown>>): Config {
  if (Object.keys(overrides).length === 0) return base;
  const { config } = loadConfig({ env: {}, overrides });
  const merged = structuredClone(base) as Record<string, Record<string, unknown>>;
  for (const { key, group, name } of listSettings())
    if (overrides[key] !== undefined)
      merged[group]![name] = (config as Record<string, Record<string, unknown>>)[group]![name];
  return merged as Config;
}
