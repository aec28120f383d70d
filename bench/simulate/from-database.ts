import type { Publisher } from './web.ts';

export async function loadModel(_from: { databaseUrl?: string; dataDir?: string }): Promise<{
  publishers: Publisher[];
  facts: object;
  startMs: number;
  changes: [string, string][];
}> {
  throw new Error('not yet');
}
