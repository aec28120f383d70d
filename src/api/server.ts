import type { Config } from '../config/index.ts';
import { AppError, EXIT, portInUse } from '../errors/index.ts';
import { type ApiOptions, buildApi } from './app.ts';
import { loopback } from './hosts.ts';

/** Starts the API; answers its address. */
export async function startApi(
  options: Omit<ApiOptions, 'operator'>,
): Promise<{ address: string; close(): Promise<void> }> {
  const { host, port } = options.config.api;
  requireSignIn(options.config);
  if (options.config.auth.jwksUrl?.startsWith('http:'))
    options.log.warn(
      {},
      'auth.jwks_url is not https: whoever is on the way to it can make keys of their own',
    );
  const app = await buildApi(options);
  try {
    const address = await app.listen({ host, port });
    return { address, close: () => app.close() };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw portInUse({ host, port });
  }
}

/** Beyond loopback a start without a secret or keys is refused: nobody would have chosen who may come in. */
function requireSignIn({ api, auth }: Config): void {
  if (loopback.has(api.host) || auth.jwtSecret !== null || auth.jwksUrl !== null) return;
  throw new AppError('api_needs_auth', `the API listens on ${api.host} only with a way to sign in`, {
    exitCode: EXIT.usage,
    advice:
      'Set AUTH_JWT_SECRET (32 bytes or more, such as from "openssl rand -base64 48") or auth.jwks_url, or leave api.host at 127.0.0.1.',
  });
}
