import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Role } from '../../src/auth/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { startEngine } from '../../src/engine.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { makeToken } from '../setup/token.ts';
import { startWeb, type Web, type WebOptions } from '../web/index.ts';
import { shareBrowser } from './browser.ts';
import { openContext, openPage, type PageOptions } from './lab.ts';

/** A browser before the dashboard of an engine that crawls a simulated web. */
export type EngineLab = {
  web: Web;
  database: TestDatabase;
  /** A page of somebody who is signed in, in a browser profile of their own. */
  open(path: string, options?: PageOptions): Promise<Page>;
  /** What pages complained of. */
  complaints: string[];
  close(): Promise<void>;
};

/** Starts a web, the whole engine on a database of its own, and a browser. */
export async function startEngineLab(options: WebOptions = {}): Promise<EngineLab> {
  const closes: (() => Promise<unknown> | unknown)[] = [];
  // The last that was started ends first.
  const close = async (): Promise<void> => {
    for (const end of closes.reverse()) await end();
  };
  try {
    const database = await createTestDatabase();
    closes.push(() => database.drop());
    const dir = mkdtempSync(join(tmpdir(), 'outrider-engine-lab-'));
    closes.push(() => rmSync(dir, { recursive: true, force: true }));
    const web = await startWeb({ startMs: Date.parse('2024-06-05T12:00:00Z'), speed: 0, ...options });
    closes.push(() => web.close());
    await web.writeHostsFile(join(dir, 'hosts'));
    const { config } = loadConfig({
      env: {
        DATABASE_URL: database.url,
        OUTRIDER_RENDER_ENABLED: 'off',
        OUTRIDER_API_PORT: '0',
        OUTRIDER_API_REQUESTS_PER_MINUTE: '1000000',
        OUTRIDER_FETCH_HOSTS_FILE: join(dir, 'hosts'),
        OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
        OUTRIDER_FETCH_DEFAULT_DELAY_MS: '20',
        OUTRIDER_FETCH_NETWORK_GAP_MS: '0',
        LOG_LEVEL: 'error',
      },
    });
    const engine = await startEngine({
      config,
      roles: ['serve', 'fetch', 'schedule'],
      version: '0.0.0-test',
      log: createLog({ level: 'error', format: 'json' }),
    });
    closes.push(() => engine.stop());
    const browser = await shareBrowser();
    const roles: readonly Role[] = ['read', 'write', 'admin'];
    const tokens = new Map<Role, string>();
    for (const role of roles) tokens.set(role, await makeToken(database.pool, role));
    const address = engine.address!;
    const complaints: string[] = [];
    return {
      web,
      database,
      open: async (path, asked = {}) => {
        const token = tokens.get(asked.role ?? 'admin')!;
        const context = await openContext(browser, address, { ...asked, token });
        closes.push(() => context.close());
        return openPage(context, `${address}${path}`, complaints);
      },
      complaints,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
