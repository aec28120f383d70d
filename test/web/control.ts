import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findForbiddenRequests, findPolitenessViolations, findRepeatedFetches } from './checks.ts';
import { type FaultSpec, faultTable } from './faults/index.ts';
import type { RobotsSetup } from './publisher.ts';
import { productToken } from './truth.ts';
import type { Web } from './web.ts';

const maxBodyBytes = 1_000_000;
const maxRecords = 50_000;

type Handler = (web: Web, query: URLSearchParams, body: Record<string, unknown>) => unknown;

const routes: Readonly<Record<string, Handler>> = {
  'GET /state': (web) => ({
    seed: web.seed,
    port: web.port,
    now: new Date(web.clock.now()).toISOString(),
    speed: web.clock.speed,
    requests: web.log.nextSeq,
    cpuUs: cpuUs(),
    rssBytes: process.memoryUsage.rss(),
    publishers: web.publishers.map(({ domain, host, title, language, address, feeds, sitemaps, faults }) => ({
      domain,
      host,
      title,
      language,
      address,
      feeds: feeds.map((feed) => `http://${host}${feed.path}`),
      sitemaps: sitemaps.map((sitemap) => `http://${host}${sitemap.path}`),
      problems: faults.map((fault) => fault.name),
    })),
    faults: web.faults(),
  }),
  'GET /log': (web, query) => {
    const records = web.log.read(Number(query.get('since') ?? 0), Number(query.get('limit') ?? maxRecords));
    return { records, next: (records.at(-1)?.seq ?? web.log.nextSeq - 1) + 1, nowMs: performance.now() };
  },
  'GET /violations': (web, query) => {
    const log = web.log.read(Number(query.get('since') ?? 0));
    const least = Number(query.get('delayMs') ?? 1_000);
    const toleranceMs = Number(query.get('toleranceMs') ?? 0);
    const crawlDelays = new Map(web.publishers.map((one) => [one.domain, one.robots.crawlDelayS * 1000]));
    const token = query.get('token') ?? productToken;
    const delayMs = (domain: string) => Math.max(least, crawlDelays.get(domain) ?? 0);
    return {
      requests: log.length,
      politeness: findPolitenessViolations(log, { delayMs, toleranceMs }),
      forbidden: findForbiddenRequests(log, { publishers: web.publishers, token }),
      repeated: findRepeatedFetches(log),
    };
  },
  'GET /truth': (web, query) => web.groundTruth(query.get('domain') ?? undefined),
  'GET /faults': () =>
    [...faultTable.values()].map(({ name, says, on, options }) => ({ name, says, on, options })),
  'POST /faults': (web, _query, body) => {
    const { domain, ...spec } = body;
    return { id: web.setFault(String(domain), spec as unknown as FaultSpec) };
  },
  'DELETE /faults': (web, query) => {
    const domain = query.get('domain');
    const id = query.get('id');
    web.clearFault({ ...(domain === null ? {} : { domain }), ...(id === null ? {} : { id: Number(id) }) });
    return { faults: web.faults() };
  },
  'POST /robots': (web, _query, body) => {
    const { domain, ...robots } = body;
    web.setRobots(String(domain), robots as Partial<RobotsSetup>);
    return { domain, robots };
  },
  'POST /advance': (web, _query, body) => {
    web.clock.advance(Number(body.ms));
    return { now: new Date(web.clock.now()).toISOString() };
  },
  'POST /publish': (web, _query, body) => ({
    urls: web.publish(String(body.domain), Number(body.count ?? 1)),
  }),
};

function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** JSON over HTTP on a loopback port of its own, for whoever started the web as a process. */
export async function startControl(web: Web): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    answer(web, request, response).catch((error: unknown) => {
      reply(response, 400, { error: error instanceof Error ? error.message : String(error) });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(web: Web, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://control');
  const handler = routes[`${request.method} ${url.pathname}`];
  if (handler === undefined) {
    reply(response, 404, { error: 'no such route', routes: Object.keys(routes) });
    return;
  }
  reply(response, 200, handler(web, url.searchParams, await readBody(request)));
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new Error(`body over ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  const parsed: unknown = bytes === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
  if (typeof parsed !== 'object' || parsed === null) throw new Error('the body must be a JSON object');
  return parsed as Record<string, unknown>;
}

function reply(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(value));
}
