import type { Config } from '../config/index.ts';
import type { Log } from '../telemetry/index.ts';
import { createHttpClient, type HostsTable, type HttpClient, parseHostsFile } from './client/index.ts';

// More of them say that it is another file.
const mostBadLines = 10;

/** Names that are pinned; a line that is skipped must not go unnoticed, because its names are looked up in DNS then. */
function hostsOf(text: string, log: Pick<Log, 'warn'>): HostsTable {
  let bad = 0;
  return parseHostsFile(text, (line, content) => {
    bad += 1;
    if (bad <= mostBadLines)
      log.warn(
        { line, text: content.slice(0, 200) },
        'a line of fetch.hosts_file cannot be read and is skipped',
      );
  });
}

/** The client of a fetcher, by its settings. */
export function clientOf(options: {
  config: Config;
  userAgent: string;
  hosts: string | null;
  log: Pick<Log, 'warn'>;
}): HttpClient {
  const { config, userAgent, hosts, log } = options;
  return createHttpClient({
    userAgent,
    userAgents: config.fetch.userAgents,
    proxies: config.fetch.proxies,
    ...(config.fetch.localAddress === null ? {} : { localAddress: config.fetch.localAddress }),
    allowNetworks: config.fetch.allowNetworks,
    ...(hosts === null ? {} : { hosts: hostsOf(hosts, log) }),
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
