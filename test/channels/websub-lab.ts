import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDiscovery } from '../../src/channels/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { type Engine, type Role, startEngine } from '../../src/engine.ts';
import { createSource } from '../../src/sources/index.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { freePort } from '../process/free-port.ts';
import { type Hub, type HubEvent, type PublisherChange, startWeb, type Web } from '../web/index.ts';

/** The engine with its API, on a web with a hub. */
export type WebSubLab = {
  web: Web;
  hub: Hub;
  engine: Engine;
  /** Settings for further processes, as environment. */
  env: Record<string, string>;
  /** Where hubs reach this engine. */
  callback: string;
  /** Waits until every feed is polled and its subscription active. */
  subscribed(): Promise<void>;
  /** Waits until the hub has noted a call about a topic after the first `since` ones: its answer comes after its effects. */
  noted(what: HubEvent['what'], topic: string, since: number): Promise<HubEvent>;
  close(): Promise<void>;
};

const backlog = 3;
const isVerified = ({ what, mode }: HubEvent): boolean => what === 'verified' && mode === 'subscribe';

/** Starts a web of feeds with a hub, an engine in this process, and follows every publisher. */
export async function startWebSubLab(options: {
  databaseUrl: string;
  publishers: number;
  roles?: readonly Role[];
  changes?: PublisherChange;
}): Promise<WebSubLab> {
  const { databaseUrl, publishers, roles = ['serve', 'fetch', 'schedule'] } = options;
  const dir = mkdtempSync(join(tmpdir(), 'outrider-websub-'));
  const path = ['/feed', '/atom.xml', '/feed.json'] as const;
  const kind = ['rss', 'atom', 'json'] as const;
  const web = await startWeb({
    seed: 23,
    publishers,
    hub: true,
    startMs: Date.parse('2024-06-05T12:00:00Z'),
    speed: 0,
    changes: Array.from({ length: publishers }, (_, index) => ({
      backlog,
      duplicates: false,
      syndicates: false,
      charset: 'utf-8',
      sitemaps: [],
      feeds: [
        {
          kind: kind[index % 3]!,
          path: path[index % 3]!,
          advertised: true,
          full: false,
          tracking: false,
          origLink: false,
          relative: false,
          items: 25,
        },
      ],
      ...options.changes,
    })),
  });
  const hostsFile = join(dir, 'hosts');
  await web.writeHostsFile(hostsFile);
  const port = await freePort();
  const callback = `http://127.0.0.1:${port}`;
  const env: Record<string, string> = {
    DATABASE_URL: databaseUrl,
    OUTRIDER_RENDER_ENABLED: 'off',
    OUTRIDER_API_PORT: String(port),
    OUTRIDER_WEBSUB_CALLBACK_URL: callback,
    OUTRIDER_FETCH_HOSTS_FILE: hostsFile,
    OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
    OUTRIDER_FETCH_DEFAULT_DELAY_MS: '50',
    OUTRIDER_FETCH_NETWORK_GAP_MS: '0',
    LOG_LEVEL: 'error',
    LOG_FORMAT: 'json',
  };
  const { config } = loadConfig({ env, overrides: {} });
  const engine = await startEngine({
    config,
    roles,
    version: '0.0.0-test',
    log: createLog({ level: 'error', format: 'json' }),
  });
  const { pool } = engine.database;
  for (const { host, feeds } of web.publishers) {
    const { source } = await createSource(pool, { url: `http://${host}${feeds[0]!.path}`, name: host });
    await startDiscovery(pool, source.id);
  }
  const states = async (): Promise<string> => {
    const result = await pool.query<{ states: string }>(
      `SELECT (SELECT count(*) FROM channels) || ' channels; ' ||
              (SELECT coalesce(string_agg(state || ' ' || coalesce(error, ''), ', '), 'none') FROM websub_subscriptions) AS states`,
    );
    return result.rows[0]!.states;
  };
  return {
    web,
    hub: web.hub!,
    engine,
    env,
    callback,
    subscribed: () =>
      waitUntil('every feed is subscribed', async () => {
        const active = await pool.query(`SELECT FROM websub_subscriptions WHERE state = 'active'`);
        // We know of it before the hub does, and it pushes to nobody until it has read our answer.
        const known = new Set(web.hub!.events.filter(isVerified).map((one) => one.topic));
        return active.rowCount === publishers && known.size >= publishers ? true : states();
      }),
    noted: async (what, topic, since) => {
      const find = () => web.hub!.events.slice(since).find((one) => one.what === what && one.topic === topic);
      await waitUntil(`the hub has noted "${what}" about ${topic}`, () => find() !== undefined);
      return find()!;
    },
    close: async () => {
      await engine.stop();
      await web.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
