import { chmodSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { dirname } from 'node:path';
import { createHttpClient, type HttpClient } from '../../src/fetch/index.ts';
import { findBrowser, Renderer } from '../../src/render/index.ts';
import { createMetrics, type Log } from '../../src/telemetry/index.ts';
import { browserPath as testBrowserPath } from '../dashboard/browser.ts';

/** The browser of the tests, where the user that it runs under can reach it. */
export function browserPath(): string {
  const path = testBrowserPath();
  chmodSync(dirname(path), 0o755);
  return path;
}

/** What a server on loopback was asked. */
export type Site = {
  port: number;
  /** Every connection, whatever came over it. */
  connections: number;
  requests: string[];
  userAgents: Set<string>;
  close(): Promise<void>;
};

/** A server that answers by path; everything else is an empty script. */
export async function startSite(
  answers: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {},
  address = '127.1.0.1',
): Promise<Site> {
  const open = new Set<Socket>();
  const server = createServer((request, response) => {
    site.requests.push(`${request.method} ${request.url}`);
    site.userAgents.add(request.headers['user-agent'] ?? '');
    const answer = answers[new URL(request.url ?? '/', 'http://x').pathname];
    if (answer !== undefined) answer(request, response);
    else response.writeHead(200, { 'content-type': 'text/javascript' }).end('');
  });
  const site: Site = {
    port: 0,
    connections: 0,
    requests: [],
    userAgents: new Set(),
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
  server.on('connection', (socket: Socket) => {
    site.connections += 1;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    site.requests.push(`UPGRADE ${request.url}`);
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  site.port = (server.address() as AddressInfo).port;
  return site;
}

/** A renderer with the real browser, and what it said. */
export type Stage = {
  renderer: Renderer;
  client: HttpClient;
  said: { level: string; message: string; facts: Record<string, unknown> }[];
  render(html: string, url?: string): ReturnType<Renderer['render']>;
  close(): Promise<void>;
};

/** Starts a renderer whose `page.test` is the site; the guard lets nobody else on loopback through. */
export async function startStage(
  site: Site,
  change: {
    limits?: Partial<{ timeoutMs: number; maxRequests: number; maxBytes: number }>;
    pagesPerBrowser?: number;
    maxMemoryBytes?: number;
    resolver?: (host: string) => Promise<string[]>;
  } = {},
): Promise<Stage> {
  const said: Stage['said'] = [];
  const log = Object.fromEntries(
    ['trace', 'debug', 'info', 'warn', 'error'].map((level) => [
      level,
      (facts: Record<string, unknown>, message: string) => void said.push({ level, message, facts }),
    ]),
  ) as unknown as Log;
  const client = createHttpClient({
    userAgent: 'unused',
    allowNetworks: [`127.1.0.0/16:${site.port}`],
    hosts: new Map([
      ['page.test', { address: '127.1.0.1', port: site.port }],
      ['private.test', { address: '10.0.0.1' }],
      ['metadata.test', { address: '169.254.169.254' }],
    ]),
    connectTimeoutMs: 2000,
    ...(change.resolver === undefined ? {} : { resolver: change.resolver }),
  });
  const search = await findBrowser(browserPath());
  if (search.found === null) throw new Error(search.why);
  const renderer = new Renderer({
    browser: search.found,
    userAgent: 'Outrider/1.0 (+https://crawl.example)',
    limits: { timeoutMs: 15_000, maxRequests: 50, maxBytes: 10_000_000, ...change.limits },
    pagesPerBrowser: change.pagesPerBrowser ?? 100,
    ...(change.maxMemoryBytes === undefined ? {} : { maxMemoryBytes: change.maxMemoryBytes }),
    connect: (to, options) => client.connect(to, options),
    log,
    metrics: createMetrics(),
  });
  await renderer.start();
  return {
    renderer,
    client,
    said,
    render: (html, url = 'http://page.test/story') =>
      renderer.render({
        url,
        contentType: 'text/html; charset=utf-8',
        headers: {},
        body: Buffer.from(`<!doctype html><meta charset="utf-8"><body>${html}`),
        signal: new AbortController().signal,
      }),
    close: async () => {
      await renderer.close();
      await client.close();
    },
  };
}

/** A page whose script writes down what it came to. */
export const tries = (script: string): string =>
  `<pre id="out"></pre><script>(async () => { const out = {}; ${script}
   document.getElementById('out').textContent = JSON.stringify(out); })()</script>`;

/** What that script wrote. */
export function outOf(rendered: Awaited<ReturnType<Renderer['render']>>): Record<string, unknown> {
  if (rendered.outcome !== 'rendered') throw new Error(JSON.stringify(rendered));
  const text = /<pre id="out">([^<]*)<\/pre>/.exec(rendered.body.toString('utf8'))?.[1] ?? '';
  return JSON.parse(text.replaceAll('&quot;', '"') || '{}') as Record<string, unknown>;
}
