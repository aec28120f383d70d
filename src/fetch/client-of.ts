import type { Config } from '../config/index.ts';
import { createHttpClient, type HttpClient, parseHostsFile } from './client/index.ts';

/** The client of a fetcher, by its settings. */
export function clientOf(options: { config: Config; userAgent: string; hosts: string | null }): HttpClient {
  const { config, userAgent, hosts } = options;
  return createHttpClient({
    userAgent,
    userAgents: config.fetch.userAgents,
    proxies: config.fetch.proxies,
    ...(config.fetch.localAddress === null ? {} : { localAddress: config.fetch.localAddress }),
    allowNetworks: config.fetch.allowNetworks,
    ...(hosts === null ? {} : { hosts: parseHostsFile(hosts) }),
    timeoutMs: config.fetch.timeoutMs,
    headersTimeoutMs: config.fetch.headersTimeoutMs,
    maxBodyBytes: config.fetch.maxBodyBytes,
    networkLimits: {
      maxPerDomain: config.fetch.networkConcurrency,
      maxPerNetwork: config.fetch.networkConcurrency,
      gapMs: config.fetch.networkGapMs,
    },
  });
}
