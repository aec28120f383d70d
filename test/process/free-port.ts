import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the ports the system gives out by itself, which any connection may take between a look and the use. Each worker
// of the tests counts through a part of its own, so that none gives a port twice before it is used.
const firstPort = 20_000;
const partPorts = 3_000;
const part = firstPort + (Number(process.env.VITEST_POOL_ID ?? 0) % 4) * partPorts;
let next = randomInt(partPorts);

/** A port nobody listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = part + (next++ % partPorts);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
