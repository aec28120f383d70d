import type { DueSubscription, HubAnswer } from '../channels/index.ts';
import type { Config } from '../config/index.ts';
import { createHttpClient, type HttpClient, parseHostsFile, retryAfterOf } from '../fetch/index.ts';

// A hub has nothing to do but to take the wish down.
const timeoutMs = 15_000;
const maxAnswerBytes = 65_536;
const mostHops = 3;

/** The guarded client for hubs: they are named by feeds, so any of them may point anywhere. */
export function createHubClient(
  config: Config,
  options: { userAgent: string; hosts: string | null },
): HttpClient {
  const { fetch } = config;
  return createHttpClient({
    userAgent: options.userAgent,
    proxies: fetch.proxies,
    ...(fetch.localAddress === null ? {} : { localAddress: fetch.localAddress }),
    allowNetworks: fetch.allowNetworks,
    ...(options.hosts === null ? {} : { hosts: parseHostsFile(options.hosts) }),
    timeoutMs,
    headersTimeoutMs: timeoutMs,
    maxBodyBytes: maxAnswerBytes,
    networkLimits: {
      maxPerDomain: fetch.networkConcurrency,
      maxPerNetwork: fetch.networkConcurrency,
      gapMs: fetch.networkGapMs,
    },
  });
}

/** Tells a hub what we wish (WebSub section 5.1). */
export async function askHub(
  client: HttpClient,
  due: DueSubscription,
  options: { leaseSeconds: number; signal: AbortSignal },
): Promise<HubAnswer> {
  const ends = due.state === 'ending';
  const wish = new URLSearchParams({
    'hub.mode': ends ? 'unsubscribe' : 'subscribe',
    'hub.topic': due.topic,
    'hub.callback': `${due.callback}/websub/${due.token}`,
    'hub.secret': due.secret,
    ...(ends ? {} : { 'hub.lease_seconds': String(options.leaseSeconds) }),
  });
  let url = due.hub;
  for (let hop = 0; hop <= mostHops; hop += 1) {
    const result = await client.request({
      url,
      method: 'POST',
      payload: wish.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: '*/*' },
      signal: options.signal,
    });
    // A wish keeps its form only over these two (RFC 9110 section 15.4).
    if (result.outcome === 'redirect' && (result.status === 307 || result.status === 308)) {
      url = result.location;
      continue;
    }
    if (result.outcome === 'failed')
      return { outcome: 'failed', reason: `${result.kind}: ${result.detail}`, retryAfterMs: null };
    if (result.status >= 200 && result.status < 300) return { outcome: 'accepted' };
    const said =
      result.outcome === 'response' ? result.body.toString('utf8').replace(/\s+/g, ' ').trim() : '';
    const reason = `the hub answered ${result.status}${said === '' ? '' : `: ${said.slice(0, 200)}`}`;
    const isForNow = result.status === 408 || result.status === 429 || result.status >= 500;
    return isForNow
      ? {
          outcome: 'failed',
          reason,
          retryAfterMs: retryAfterOf(result.headers),
        }
      : { outcome: 'refused', reason };
  }
  return { outcome: 'failed', reason: `more than ${mostHops} redirects`, retryAfterMs: null };
}
