import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import type { Database } from '../db/index.ts';
import { AppError, EXIT, messageOf } from '../errors/index.ts';
import { createVitals, describeVitals, type LoopHealth, type Vitals } from '../resilience/index.ts';
import type { Metrics } from '../telemetry/index.ts';
import { isLoopbackAddress, loopback, nameOfHost } from './hosts.ts';

/** What the health routes report on; every role has them. */
export type HealthOptions = {
  database: Database;
  metrics: Metrics;
  version: string;
  loops: () => readonly LoopHealth[];
  vitals?: Vitals;
  /** Whether this process believes its own network to be down. */
  isAway?: () => boolean;
};

/** An answer of a health route. */
export type HealthAnswer = { status: number; type: string; body: string };

const json = (status: number, value: object): HealthAnswer => ({
  status,
  type: 'application/json',
  body: JSON.stringify(value),
});

/** `/healthz`, `/readyz`, `/health` and `/metrics`; null for any other path. */
export async function answerHealth(path: string, options: HealthOptions): Promise<HealthAnswer | null> {
  switch (path) {
    case '/healthz':
      return json(200, { status: 'ok' });
    case '/readyz':
      try {
        await options.database.pool.query('SELECT 1');
        return json(200, { status: 'ready' });
      } catch {
        // Anybody may ask, and the error may name hosts and users; the log of whoever met it has the rest.
        return json(503, { status: 'not ready', reason: 'the database does not answer' });
      }
    case '/health':
      return json(200, healthOf(options));
    case '/metrics': {
      const { registry } = options.metrics;
      return { status: 200, type: registry.contentType, body: await registry.metrics() };
    }
    default:
      return null;
  }
}

/** Every loop in words, what else the process knows of itself, and how all of it does. */
function healthOf({ version, loops, vitals = createVitals(), isAway = () => false }: HealthOptions): object {
  return { version, ...describeVitals(vitals, { loops: loops(), isAway: isAway(), now: Date.now() }) };
}

/** Where the health routes are served alone. */
export type HealthPlace = {
  port: number;
  /** Loopback unless said. */
  host?: string;
  /** Names they answer to besides those of loopback and the address itself. */
  names?: readonly string[];
};

/** Why a request is not answered; null when it is. */
function refusalOf(request: IncomingMessage, path: string, names: ReadonlySet<string>): HealthAnswer | null {
  const { localAddress, remoteAddress } = request.socket;
  const name = nameOfHost(request.headers.host ?? '');
  // By another name a page on the web may have been led here; the address itself is nobody's name.
  const isAddress = isIP(name) > 0 && name === localAddress?.replace(/^::ffff:/, '');
  if (!loopback.has(name) && !names.has(name) && !isAddress) return json(421, { status: 'wrong host' });
  // Errors of loops are words of libraries, which may name hosts and users; numbers do not.
  if (path === '/health' && !isLoopbackAddress(remoteAddress))
    return json(403, { status: 'refused', reason: '/health is for this machine; /metrics has the numbers' });
  return null;
}

/** Serves the health routes alone, for roles that serve nothing else. */
export async function startHealthServer(
  place: HealthPlace,
  options: HealthOptions,
): Promise<{ address: string; close(): Promise<void> }> {
  const { port, host = '127.0.0.1' } = place;
  const names = new Set((place.names ?? []).map((name) => name.toLowerCase()));
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5000 }, (request, response) => {
    const path = (request.url ?? '').split('?')[0]!;
    const refusal = refusalOf(request, path, names);
    (refusal === null ? answerHealth(path, options) : Promise.resolve(refusal))
      .catch((error: unknown) => json(500, { status: 'failed', reason: messageOf(error) }))
      .then((answer) => {
        const { status, type, body } =
          answer ?? json(404, { status: 'unknown', paths: ['/healthz', '/readyz', '/health', '/metrics'] });
        response
          .writeHead(status, {
            'content-type': type,
            'x-content-type-options': 'nosniff',
            connection: 'close',
          })
          .end(body);
      });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      reject(
        new AppError('port_in_use', `the health port ${port} is in use by another program`, {
          exitCode: EXIT.busyPort,
          advice: 'Choose another with --health-port or OUTRIDER_HEALTH_PORT.',
        }),
      );
    });
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    address: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
