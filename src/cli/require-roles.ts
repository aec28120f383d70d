import type { Config } from '../config/index.ts';
import { systemClock } from '../telemetry/index.ts';

/** Throws what a role would end with at its start because of settings that are sound one by one and not together. */
export async function requireRoles(config: Config): Promise<void> {
  // Loaded here: most uses of those who ask need none of it.
  const { openBlobStore } = await import('../blobs/index.ts');
  const { configuredSinks } = await import('../sinks/index.ts');
  await openBlobStore(config).close();
  configuredSinks(config, { userAgent: '', clock: systemClock });
}
