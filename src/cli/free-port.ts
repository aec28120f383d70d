import { createServer } from 'node:net';
import { portInUse } from '../errors/index.ts';

/** Throws where the API would find its port taken; whatever else is wrong with it the API says itself. */
export async function requireFreePort(at: { host: string; port: number }): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? reject(portInUse(at)) : resolve(),
    );
    server.listen(at, () => server.close(() => resolve()));
  });
}
