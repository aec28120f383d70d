import { wordOf } from './api-documents.ts';
import { type BenchDomain, urlOf } from './frontier/load.ts';

/** The routes by what they ask for; n makes each round ask for something else. */
export function routesOf(domains: readonly BenchDomain[]): Record<string, (n: number) => string> {
  return {
    ...searches(domains[0]!.name),
    ...frontier(domains),
    ...domainRoutes(domains),
    ...overview(domains),
  };
}

function searches(domain: string): Record<string, (n: number) => string> {
  const search = (words: string, more = ''): string =>
    `/api/v1/documents?q=${encodeURIComponent(words)}${more}`;
  return {
    searchRare: (n) => search(wordOf(20_000 + n)),
    searchUsual: (n) => search(wordOf(500 + n * 7)),
    searchCommon: (n) => search(wordOf(1 + (n % 5))),
    searchTwoWords: (n) => search(`${wordOf(30 + n)} ${wordOf(200 + n)}`),
    searchPhrase: (n) => search(`"${wordOf(2 + n)} ${wordOf(3 + n)}"`),
    searchEither: (n) => search(`${wordOf(40 + n)} or ${wordOf(900 + n)}`),
    searchOfSource: (n) => search(wordOf(2 + n), `&source=source_${1 + n}`),
    searchOfDomain: (n) => search(wordOf(2 + n), `&domain=${domain}`),
    searchOfLanguage: (n) => search(wordOf(2 + n), '&language=de'),
    searchOfWeek: (n) =>
      search(wordOf(50 + n), `&since=${new Date(Date.now() - 7 * 86_400_000).toISOString()}`),
    documents: () => '/api/v1/documents?limit=100',
    documentsOfSource: (n) => `/api/v1/documents?limit=100&source=source_${1 + n}`,
    sources: () => '/api/v1/sources',
    sourcesActivity: (n) =>
      `/api/v1/sources/activity?slugs=${Array.from({ length: 50 }, (_, one) => `source_${1 + n + one}`).join()}`,
    channels: () => '/api/v1/channels',
    audit: () => '/api/v1/audit',
    sinks: () => '/api/v1/sinks',
    database: () => '/api/v1/database',
  };
}

function frontier(domains: readonly BenchDomain[]): Record<string, (n: number) => string> {
  const domainOf = (n: number): string => domains[n % domains.length]!.name;
  const largest = domains.reduce((best, one) => (one.urls > best.urls ? one : best)).name;
  return {
    frontier: () => '/api/v1/frontier',
    frontierOfStatus: (n) => `/api/v1/frontier?status=${['pending', 'fetched', 'failed'][n % 3]}`,
    // No row matches: as much is read as a call may read.
    frontierNothing: () => '/api/v1/frontier?status=dead&reason=not_found',
    frontierOfDomain: (n) => `/api/v1/frontier?domain=${domainOf(n)}`,
    frontierOfLargest: () => `/api/v1/frontier?domain=${largest}&status=failed`,
    frontierOfSource: (n) => `/api/v1/frontier?source=source_${1 + n}`,
    frontierOldest: (n) => `/api/v1/frontier?source=source_${1 + n}&sort=oldest&status=pending`,
    frontierUrl: (n) => `/api/v1/frontier?url=${encodeURIComponent(urlOf(domainOf(n), 3))}`,
    frontierPrefix: (n) =>
      `/api/v1/frontier?prefix=${encodeURIComponent(`https://${domainOf(n)}/news/2031/`)}`,
    frontierStats: () => '/api/v1/frontier/stats',
    frontierStatsOfSource: (n) => `/api/v1/frontier/stats?source=source_${1 + n}`,
  };
}

function domainRoutes(domains: readonly BenchDomain[]): Record<string, (n: number) => string> {
  const domainOf = (n: number): string => domains[n % domains.length]!.name;
  return {
    domains: () => '/api/v1/domains',
    domainsOfStatus: () => '/api/v1/domains?status=active',
    domainsByPrefix: (n) => `/api/v1/domains?q=site000${n}`,
    domainsRecent: () => '/api/v1/domains?sort=recent',
    domainsByScore: () => '/api/v1/domains?sort=score',
    domainsOpen: () => '/api/v1/domains?circuit=open',
    domainsTop: () => '/api/v1/domains/top',
    domain: (n) => `/api/v1/domains/${domainOf(n)}`,
    domainEvents: (n) => `/api/v1/domains/${domainOf(n)}/events`,
    domainRobots: (n) => `/api/v1/domains/${domainOf(n)}/robots`,
    domainLeases: () => '/api/v1/domains/leases',
    workers: () => '/api/v1/workers',
    explainUrl: (n) => `/api/v1/explain?url=${encodeURIComponent(urlOf(domainOf(n), 3))}`,
    explainDomain: (n) => `/api/v1/explain?domain=${domainOf(n)}`,
  };
}

function overview(domains: readonly BenchDomain[]): Record<string, (n: number) => string> {
  const domainOf = (n: number): string => domains[n % domains.length]!.name;
  const find = (text: string): string => `/api/v1/overview/find?q=${encodeURIComponent(text)}`;
  return {
    overview: () => '/api/v1/overview',
    overviewHour: () => '/api/v1/overview/series?span=1h',
    overviewDay: () => '/api/v1/overview/series?span=24h',
    overviewWeek: () => '/api/v1/overview/series?span=7d',
    findUrl: (n) => find(urlOf(domainOf(n), 3)),
    findDomain: (n) => find(domainOf(n)),
    findSource: (n) => find(`Source ${1 + n}`),
  };
}
