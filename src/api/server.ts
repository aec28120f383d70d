import { AppError, EXIT } from '../errors/index.ts';
import { type ApiOptions, buildApi, loopback } from './app.ts';

/** Starts the API; answers its address. */
export async function startApi(options: ApiOptions): Promise<{ address: string; close(): Promise<void> }> {
  const { host, port } = options.config.api;
  if (!loopback.has(host)) {
    throw new AppError(
      'api_needs_auth',
      `the API has no sign-in yet and listens on loopback only, not on ${host}`,
      {
        exitCode: EXIT.usage,
        advice:
          'Leave api.host at 127.0.0.1 and put a proxy with authentication in front if others must reach it.',
      },
    );
  }
  const app = await buildApi(options);
  try {
    const address = await app.listen({ host, port });
    return { address, close: () => app.close() };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new AppError('port_in_use', `port ${port} on ${host} is in use by another program`, {
      exitCode: EXIT.busyPort,
      advice: `Stop the other program, or choose another port with --port or OUTRIDER_API_PORT (0 picks a free one).`,
    });
  }
}
