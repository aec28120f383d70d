import type { Config } from '../config/index.ts';
import type { RefreshOptions } from '../domains/index.ts';
import type { ImageSettings } from '../ingest/index.ts';
import type { Cooldowns } from './lessons.ts';

/** What is configured of how a domain is run. */
export type RunOptions = {
  defaultDelayMs: number;
  maxTries: number;
  minWords: number;
  minBodyBytes: number;
  keepHtml: 'none' | 'compressed' | 'archive';
  sitemapMaxAgeMs: number;
  maxBodyBytes: number;
  maxImageBytes: number;
  images: ImageSettings;
  /** 0: no limit. */
  maxPagesPerRun: number;
  refresh: Omit<RefreshOptions, 'adaptive'>;
  cooldowns: Cooldowns;
};

const daySeconds = 86_400;

/** Reads it from the configuration. */
export function runOptionsOf(config: Config): RunOptions {
  return {
    defaultDelayMs: config.fetch.defaultDelayMs,
    maxTries: config.fetch.maxTries,
    minWords: config.documents.minWords,
    minBodyBytes: config.documents.minBodyBytes,
    keepHtml: config.documents.keepHtml,
    sitemapMaxAgeMs: config.polling.sitemapMaxAgeHours * 3_600_000,
    maxBodyBytes: config.fetch.maxBodyBytes,
    maxImageBytes: config.images.maxBytes,
    images: config.images,
    maxPagesPerRun: config.domains.maxPagesPerRun,
    refresh: refreshOf(config),
    cooldowns: cooldownsOf(config),
  };
}

function refreshOf(config: Config): RunOptions['refresh'] {
  const { refreshDays, refreshMaxDays } = config.domains;
  return {
    firstSeconds: refreshDays * daySeconds,
    // Nothing is fetched again before its re-fetch age.
    minSeconds: 6 * 3600,
    maxSeconds: Math.max(refreshDays, refreshMaxDays) * daySeconds,
  };
}

function cooldownsOf(config: Config): Cooldowns {
  const days = (count: number): number => count * daySeconds * 1000;
  const { domains } = config;
  return {
    login_required: days(domains.loginCooldownDays),
    rate_limited: days(domains.rateLimitCooldownDays),
    forbidden: days(domains.forbiddenCooldownDays),
    challenge: days(domains.challengeCooldownDays),
    server_error: days(domains.serverErrorCooldownDays),
    robots_denied: days(domains.robotsCooldownDays),
  };
}
