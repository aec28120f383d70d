import { mkdtempSync, realpathSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { destroyServer } from '../src/db/embedded/index.ts';
import { openDatabase } from '../src/db/index.ts';
import { startWebSubLab } from '../test/channels/websub-lab.ts';
import { readOptions } from './options.ts';

/** From the moment an item was published to the moment it stood in the frontier, in seconds. */
export type PushDelays = {
  items: number;
  publishers: number;
  /** Items that never came by push. */
  missing: number;
  p50: number;
  p95: number;
  max: number;
};

// The one polls of the measured time are the first ones; whatever comes comes from the hub.
const patienceMs = 60_000;

/** `npm run bench -- websub`. */
export async function run(args: string[]): Promise<object> {
  const { items, publishers } = readOptions(args, {
    items: ['items that are published', 300],
    publishers: ['publishers', 30],
  });
  const delays = await measurePushes({ items, publishers });
  return { ...delays, load: Number(loadavg()[0]!.toFixed(2)) };
}

/**
 * The real subscriber, API and frontier against the simulated hub, over sockets: publishers publish one item after the
 * other, and the database says when each became known.
 */
export async function measurePushes(size: { items: number; publishers: number }): Promise<PushDelays> {
  const dataDir = realpathSync(mkdtempSync(join(tmpdir(), 'outrider-websub-bench-')));
  const database = await openDatabase({ dataDir, durable: true, applicationName: 'bench' });
  try {
    const lab = await startWebSubLab({
      databaseUrl: database.connectionString,
      publishers: size.publishers,
      roles: ['serve', 'fetch', 'schedule'],
    });
    try {
      await lab.subscribed();
      const published = new Map<string, number>();
      for (let n = 0; n < size.items; n += 1) {
        lab.web.clock.advance(1000);
        const atMs = Date.now();
        const [url] = lab.web.publish(lab.web.publishers[n % size.publishers]!.domain, 1);
        published.set(url!, atMs);
        // Ten a second over all publishers: a busy day of ten thousand feeds.
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const known = async (): Promise<Map<string, number>> => {
        const result = await database.pool.query<{ url: string; at: number }>(
          `SELECT url, extract(epoch FROM discovered_at)::float8 * 1000 AS at FROM url_frontier
            WHERE url = ANY ($1) AND origin = 'push'`,
          [[...published.keys()]],
        );
        return new Map(result.rows.map((row) => [row.url, row.at]));
      };
      const until = performance.now() + patienceMs;
      let arrived = await known();
      while (arrived.size < published.size && performance.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, 200));
        arrived = await known();
      }
      const seconds = [...arrived]
        .map(([url, at]) => (at - published.get(url)!) / 1000)
        .sort((a, b) => a - b);
      const quantile = (share: number): number =>
        Number((seconds[Math.max(0, Math.ceil(share * seconds.length) - 1)] ?? Number.NaN).toFixed(3));
      return {
        items: size.items,
        publishers: size.publishers,
        missing: published.size - arrived.size,
        p50: quantile(0.5),
        p95: quantile(0.95),
        max: quantile(1),
      };
    } finally {
      await lab.close();
    }
  } finally {
    await database.close();
    await destroyServer(dataDir);
  }
}
