import type { AccessRecord } from './access-log.ts';
import type { Publisher } from './publisher.ts';
import { allowedByRobots } from './render/robots.ts';

/** A request that came too early. */
export interface PolitenessViolation {
  domain: string;
  previous: AccessRecord;
  request: AccessRecord;
  /** Time between the previous response's headers (or failure) and this request; negative when they overlapped. */
  gapMs: number;
  wantedMs: number;
}

/** A request that robots.txt forbids, or that came before robots.txt was asked for. */
export interface ForbiddenRequest {
  request: AccessRecord;
  why: 'disallowed' | 'before_robots';
}

/** An address that was fetched more than once. */
export interface RepeatedFetch {
  url: string;
  requests: readonly AccessRecord[];
}

/** www and apex are one domain and share one delay. */
function domainOf(host: string): string {
  return host.startsWith('www.') ? host.slice(4) : host;
}

/** Requests that began before the previous response's headers (or failure) plus the domain's delay. */
export function findPolitenessViolations(
  log: readonly AccessRecord[],
  options: { delayMs: (domain: string) => number; toleranceMs?: number },
): PolitenessViolation[] {
  const { delayMs, toleranceMs = 0 } = options;
  const violations: PolitenessViolation[] = [];
  const last = new Map<string, AccessRecord>();
  for (const request of [...log].sort((a, b) => a.startedAtMs - b.startedAtMs)) {
    const domain = domainOf(request.host);
    const previous = last.get(domain);
    if (previous !== undefined) {
      const gapMs = request.startedAtMs - answeredAt(previous);
      const wantedMs = delayMs(domain);
      if (gapMs < wantedMs - toleranceMs) violations.push({ domain, previous, request, gapMs, wantedMs });
    }
    // The latest answer counts: a slow one that began earlier may end later.
    if (previous === undefined || answeredAt(request) >= answeredAt(previous)) last.set(domain, request);
  }
  return violations;
}

/** Headers sent, else the end without headers; a request that is still open has not been answered at all. */
function answeredAt(record: AccessRecord): number {
  if (record.headersSentAtMs >= 0) return record.headersSentAtMs;
  return record.endedAtMs >= 0 ? record.endedAtMs : Number.POSITIVE_INFINITY;
}

/** Requests against the publishers' own robots rules, or before the host's robots.txt was asked for. */
export function findForbiddenRequests(
  log: readonly AccessRecord[],
  options: { publishers: readonly Publisher[]; token: string },
): ForbiddenRequest[] {
  const byHost = new Map(options.publishers.flatMap((one) => one.hosts.map((host) => [host, one] as const)));
  const robotsAnswered = new Map<string, number>();
  const found: ForbiddenRequest[] = [];
  for (const request of [...log].sort((a, b) => a.startedAtMs - b.startedAtMs)) {
    const publisher = byHost.get(request.host);
    if (publisher === undefined) continue;
    if (request.path.split('?', 1)[0] === '/robots.txt') {
      const known = robotsAnswered.get(request.host) ?? Number.POSITIVE_INFINITY;
      if (tellsRules(request.status)) robotsAnswered.set(request.host, Math.min(known, answeredAt(request)));
      continue;
    }
    const answered = robotsAnswered.get(request.host);
    if (answered === undefined || answered > request.startedAtMs)
      found.push({ request, why: 'before_robots' });
    else if (!allowedByRobots(publisher, request.path, options.token))
      found.push({ request, why: 'disallowed' });
  }
  return found;
}

/** RFC 9309: 4xx other than 429 means no rules; 5xx, 429 and no answer mean that nothing may be fetched yet. */
function tellsRules(status: number): boolean {
  return status >= 200 && status < 500 && status !== 429;
}

/** Addresses with more than one whole answer; conditional requests and failed ones may be repeated. */
export function findRepeatedFetches(
  log: readonly AccessRecord[],
  options: { isArticle?: (host: string, path: string) => boolean } = {},
): RepeatedFetch[] {
  const byUrl = new Map<string, AccessRecord[]>();
  for (const record of log) {
    if (record.status !== 200 || record.aborted || record.conditional || record.method !== 'GET') continue;
    if (options.isArticle !== undefined && !options.isArticle(record.host, record.path)) continue;
    const url = `http://${record.host}${record.path}`;
    const same = byUrl.get(url);
    if (same === undefined) byUrl.set(url, [record]);
    else same.push(record);
  }
  return [...byUrl]
    .filter(([, requests]) => requests.length > 1)
    .map(([url, requests]) => ({ url, requests }));
}
