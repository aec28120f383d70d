import { writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { type AccessLog, createAccessLog } from './access-log.ts';
import { createCache } from './cache.ts';
import { startClock, type WebClock } from './clock.ts';
import { issuerAddress, issuerHost } from './door.ts';
import { activateFault, type FaultSpec } from './faults/index.ts';
import { createHub, type Hub, hubHost } from './hub.ts';
import { makePublishers, type PublisherChange } from './profiles.ts';
import type { Publisher, RobotsSetup } from './publisher.ts';
import { listen, type WebState } from './server.ts';
import { createSite, type Site } from './site.ts';
import { describeTruth, type PublisherTruth } from './truth.ts';

/** How a web is made; everything has a default. */
export interface WebOptions {
  seed?: number;
  /** How many publishers the seed makes, or ready ones. */
  publishers?: number | readonly Publisher[];
  /** Changes to the publishers the seed makes, by position. */
  changes?: readonly PublisherChange[];
  /** Articles each publisher has at the start. */
  backlog?: number;
  /** Weight of article and listing pages; 0 unless said: bare pages of some 6 kB. */
  pageKb?: number;
  /** The web's time at the start; the real time unless said. */
  startMs?: number;
  /** The web's hours per real hour; 0 stops its clock, and only `advance` moves it. */
  speed?: number;
  port?: number;
  /** Speaks https on the same port, with certificates of its own authority. */
  tls?: boolean;
  /** A WebSub hub, which every feed names and which pushes what `publish` publishes. */
  hub?: boolean;
  logCapacity?: number;
  cacheBytes?: number;
}

/** A running web. */
export interface Web {
  readonly seed: number;
  readonly port: number;
  /** PEM certificate of the authority of the https hosts; null without `tls`. */
  readonly authority: string | null;
  readonly publishers: readonly Publisher[];
  /** Host names with the addresses they listen at. */
  readonly hosts: readonly { address: string; names: readonly string[] }[];
  readonly log: AccessLog;
  readonly clock: WebClock;
  /** null for a web without one. */
  readonly hub: Hub | null;
  /** Puts a fault in force on a domain and returns its number. */
  setFault(domain: string, spec: FaultSpec): number;
  /** Ends faults: all, a domain's, or one by its number. */
  clearFault(which?: { domain?: string; id?: number }): void;
  faults(): { domain: string; id: number; seen: number; spec: FaultSpec }[];
  /** Changes what a publisher's robots.txt says, for the server, the ground truth and the checks. */
  setRobots(domain: string, robots: Partial<RobotsSetup>): void;
  /** Publishes items now, outside the schedule, and returns their addresses. */
  publish(domain: string, count: number): string[];
  groundTruth(domain?: string): PublisherTruth[];
  /** Lines `address:port name name`, for a crawler's resolver. */
  writeHostsFile(path: string): Promise<void>;
  close(): Promise<void>;
}

const defaultLogCapacity = 2_000_000;
const defaultCacheBytes = 64_000_000;

/** Starts a web in this process. */
export async function startWeb(options: WebOptions = {}): Promise<Web> {
  const { seed = 1, publishers: wanted = 10, startMs = Date.now(), speed = 1 } = options;
  let webPort = 0;
  const hub = options.hub === true ? createHub((topic) => fetchTopic(topic, webPort)) : null;
  const made = typeof wanted === 'number' ? generate(options, wanted) : wanted.map((one) => ({ ...one }));
  const publishers: Publisher[] =
    hub === null
      ? made
      : made.map((one, index) => ({
          ...one,
          hub: { url: hub.url, by: index % 2 === 0 && one.feeds[0]?.kind !== 'rdf' ? 'document' : 'header' },
        }));
  const clock = startClock({ startMs, speed });
  const sites = publishers.map((publisher) => createSite({ seed, publisher, startMs }));
  linkPartners(sites);
  const byHost = new Map(sites.flatMap((site) => site.publisher.hosts.map((host) => [host, site] as const)));
  const log = createAccessLog(options.logCapacity ?? defaultLogCapacity);
  const cache = createCache(options.cacheBytes ?? defaultCacheBytes);
  for (const site of sites) site.faults = site.publisher.faults.map(activateFault);
  const state: WebState = { sites, byHost, clock, log, cache, hub };
  const { port, authority, close } = await listen(state, {
    port: options.port ?? 0,
    tls: options.tls === true,
  });
  webPort = port;

  const siteOf = (domain: string) => {
    const site = byHost.get(domain);
    if (site === undefined) throw new Error(`no publisher is called "${domain}"`);
    return site;
  };
  const hosts: { address: string; names: readonly string[] }[] = publishers.map(
    ({ address, hosts: names }) => ({
      address,
      names,
    }),
  );
  if (hub !== null) hosts.push({ address: '127.0.0.1', names: [hubHost] });
  if (options.tls === true) hosts.push({ address: issuerAddress, names: [issuerHost] });
  return {
    seed,
    port,
    authority,
    publishers,
    hosts,
    log,
    clock,
    hub,
    setFault(domain, spec) {
      const fault = activateFault(spec);
      const site = siteOf(domain);
      site.faults = [...site.faults, fault];
      return fault.id;
    },
    clearFault(which = {}) {
      const chosen = which.domain === undefined ? sites : [siteOf(which.domain)];
      for (const site of chosen)
        site.faults = which.id === undefined ? [] : site.faults.filter((fault) => fault.id !== which.id);
    },
    faults: () =>
      sites.flatMap((site) =>
        site.faults.map(({ id, spec, state: { seen } }) => ({
          domain: site.publisher.domain,
          id,
          seen,
          spec,
        })),
      ),
    setRobots(domain, robots) {
      const { publisher } = siteOf(domain);
      publisher.robots = { ...publisher.robots, ...robots };
    },
    publish(domain, count) {
      const site = siteOf(domain);
      const urls = site.timeline.publish(clock.now(), count).map((item) => site.describe(item).url);
      // Its failures are in the hub's own record.
      for (const feed of hub === null ? [] : site.publisher.feeds)
        void hub?.publish(`http://${site.publisher.host}${feed.path}`);
      return urls;
    },
    groundTruth: (domain) =>
      (domain === undefined ? sites : [siteOf(domain)]).map((site) => describeTruth(site, clock.now())),
    writeHostsFile: (path) =>
      writeFile(path, hosts.map(({ address, names }) => `${address}:${port} ${names.join(' ')}\n`).join('')),
    close: async () => {
      await hub?.close();
      await close();
    },
  };
}

/** What a hub gets when it asks a publisher: over a socket, like everybody else. */
function fetchTopic(topic: string, port: number): Promise<{ type: string; body: Buffer }> {
  const { hostname, pathname, search } = new URL(topic);
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: pathname + search, headers: { host: hostname } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ type: response.headers['content-type'] ?? '', body: Buffer.concat(chunks) }),
      );
    }).on('error', reject);
  });
}

function generate(options: WebOptions, count: number): Publisher[] {
  const { seed = 1, backlog, pageKb, changes } = options;
  return makePublishers({
    seed,
    count,
    ...(backlog === undefined ? {} : { backlog }),
    ...(pageKb === undefined ? {} : { pageKb }),
    ...(changes === undefined ? {} : { changes }),
  });
}

/** A syndicating publisher takes from the first of its language that writes for itself. */
function linkPartners(sites: readonly Site[]): void {
  for (const site of sites) {
    if (!site.publisher.syndicates) continue;
    const { language } = site.publisher;
    site.partner = sites.find(
      (other) => other.publisher.language === language && !other.publisher.syndicates,
    );
  }
}
