import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * A port nobody listens on, below those the system gives out by itself: one of those was taken between being found free
 * and being used, by a connection of another test.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
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
