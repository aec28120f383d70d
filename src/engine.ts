import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { type Config, databaseOptions, userAgentOf } from './config/index.ts';
import { type Database, isForbidden, openDatabase, refuseFetcherRole } from './db/index.ts';
import { saveBudget } from './domains/index.ts';
import { AppError, EXIT, messageOf } from './errors/index.ts';
import type { Fetcher } from './fetch/index.ts';
import { ensurePartitions, isRenderPool, removeWorker, saveWorker } from './frontier/index.ts';
import type { Renderer } from './render/index.ts';
import { createVitals, type LoopHealth, measureMemory, runLoop, type Vitals } from './resilience/index.ts';
import { type Clock, createMetrics, type Log, type Metrics, systemClock } from './telemetry/index.ts';

/** What a process does; one process may do all of it. */
export type Role = 'serve' | 'fetch' | 'schedule';

export type EngineOptions = {
  config: Config;
  roles: readonly Role[];
  version: string;
  log: Log;
  clock?: Clock;
  /** What the process knows of itself. */
  vitals?: Vitals;
};

/** A running engine. */
export type Engine = {
  database: Database;
  /** Address of the API, when this process serves it. */
  address: string | null;
  loops: () => readonly LoopHealth[];
  metrics: Metrics;
  /** Whether its network seems to be down. */
  isAway: () => boolean;
  /** Stops claiming, finishes or hands back what is under way, releases leases, and closes. */
  stop(): Promise<void>;
};

const heartbeatMs = 10_000;

/** Wires everything: the only place that knows all parts. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { config, log, version } = options;
  if (isRenderPool(config.fetch.pool))
    throw new AppError('config_invalid', 'fetch.pool: "render" is the name of those who have a browser', {
      exitCode: EXIT.usage,
      advice: 'Give the group another name; a fetcher renders with --render, in whatever group it is.',
    });
  const clock = options.clock ?? systemClock;
  const metrics = createMetrics();
  const vitals = options.vitals ?? createVitals();
  metrics.memoryLimit.set(vitals.memoryLimitBytes);
  const health: LoopHealth[] = [];
  const register = (one: LoopHealth): void => void health.push(one);
  const owner = `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
  const hosts = config.fetch.hostsFile === null ? null : readHosts(config.fetch.hostsFile);
  const database = await openDatabase({
    ...databaseOptions(config),
    applicationName: `outrider ${options.roles.join('+')}`,
    log,
  });
  const stops: (() => Promise<unknown>)[] = [];
  let address: string | null = null;
  let renderer: Renderer | null = null;
  let isAway: () => boolean = () => false;
  const beat = new AbortController();
  const sayAlive = async (): Promise<void> => {
    if (beat.signal.aborted) return;
    const { usedBytes, limitBytes } = measureMemory(vitals.memoryLimitBytes);
    await saveWorker(database.pool, {
      id: owner,
      role: options.roles.length === 1 ? options.roles[0]! : 'run',
      pool: config.fetch.pool,
      version,
      host: hostname(),
      pid: process.pid,
      // Rows that need a browser may wait for this process.
      renders: renderer?.isReady ?? false,
      state: {
        loops: health,
        outage: isAway(),
        memory: { usedBytes, limitBytes },
        ...(vitals.restarts === null ? {} : { restarts: vitals.restarts }),
        ...(renderer === null ? {} : { browser: renderer.state }),
      },
    });
  };
  const telling = { metrics, version, vitals, loops: () => health, isAway: () => isAway() };
  try {
    // Each role loads its own part only: half a second of start and tens of megabytes the others do not need.
    if (options.roles.includes('serve')) {
      const { startApi } = await import('./api/index.ts');
      const api = await startApi({ database, config, clock, log, ...telling });
      address = api.address;
      stops.push(() => api.close());
    }
    if (config.health.port > 0 && !options.roles.includes('serve')) {
      const { startHealthServer } = await import('./api/index.ts');
      const place = { ...config.health, names: config.api.hosts };
      const server = await startHealthServer(place, { database, ...telling });
      log.info({ address: server.address }, 'health and metrics are served');
      stops.push(() => server.close());
    }
    if (options.roles.includes('schedule')) {
      await refuseFetcherRole(database);
      // Before the first request is logged, so that nothing lands in the default partition.
      await ensurePartitions(database.pool, 'crawl_log');
      await saveBudget(database.pool, config.domains.maxPagesPerRun, owner);
      const { Scheduler } = await import('./schedule/index.ts');
      const scheduler = new Scheduler({
        database,
        config,
        clock,
        log,
        metrics,
        register,
        userAgent: userAgentOf(config, version),
        owner,
        hosts,
      });
      await scheduler.start();
      stops.push(() => scheduler.stop());
    }
    if (options.roles.includes('fetch')) {
      await saveBudgetIfAllowed(database, config.domains.maxPagesPerRun, owner, log);
      const { Fetcher } = await import('./fetch/index.ts');
      const fetcher = new Fetcher({
        database,
        config,
        owner,
        userAgent: userAgentOf(config, version),
        hosts,
        clock,
        log,
        metrics,
        register,
      });
      isAway = () => fetcher.isAway;
      fetcher.start();
      stops.push(async () => {
        await fetcher.stop(config.up.graceSeconds * 1000);
        await Promise.allSettled([rendering]);
        await renderer?.close();
      });
      // A browser may have to be unpacked first, which takes seconds: only who insists on one waits for it.
      const userAgent = userAgentOf(config, version);
      const rendering = startRenderer({ config, log, metrics, userAgent, fetcher }).then(async (started) => {
        renderer = started;
        if (started === null) return;
        fetcher.renderWith(started);
        await sayAlive();
      });
      if (config.render.enabled === 'on') await rendering;
      else rendering.catch((error: unknown) => log.error({ error }, 'pages that need JavaScript wait'));
    }
    const beating = runLoop({
      name: 'heartbeat',
      intervalMs: heartbeatMs,
      signal: beat.signal,
      clock,
      log,
      metrics,
      register,
      turn: async () => {
        await sayAlive();
        return 'idle';
      },
    });
    stops.push(async () => {
      beat.abort();
      await beating;
      await removeWorker(database.pool, owner);
    });
  } catch (error) {
    await stopAll(stops, log);
    await database.close();
    throw error;
  }
  return {
    database,
    address,
    loops: () => health,
    metrics,
    isAway: () => isAway(),
    stop: async () => {
      await stopAll(stops, log);
      await database.close();
    },
  };
}

// A fetcher's own role only reads settings: the scheduler's budget is then the one in force.
async function saveBudgetIfAllowed(
  database: Database,
  budget: number,
  owner: string,
  log: Log,
): Promise<void> {
  try {
    await saveBudget(database.pool, budget, owner);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    log.info({ budget }, 'the budget in force stays: this role may not change settings');
  }
}

/** The browser of a fetcher, as far as it may and can have one. */
async function startRenderer(options: {
  config: Config;
  log: Log;
  metrics: Metrics;
  userAgent: string;
  fetcher: Fetcher;
}): Promise<Renderer | null> {
  const { config, log, metrics, fetcher } = options;
  const { enabled, browserPath, timeoutMs, maxRequests, maxBytes, pagesPerBrowser } = config.render;
  if (enabled === 'off') return null;
  const { findBrowser, Renderer } = await import('./render/index.ts');
  const search = await findBrowser(browserPath);
  const missing = (why: string): null => {
    if (enabled === 'on')
      throw new AppError('browser_missing', why, {
        exitCode: EXIT.usage,
        advice: 'Leave out --render (or set render.enabled to auto) to fetch without one.',
      });
    log.info({}, `pages that need JavaScript wait: ${why}`);
    return null;
  };
  if (search.found === null) return missing(search.why);
  const renderer = new Renderer({
    browser: search.found,
    userAgent: config.fetch.userAgents[0] ?? options.userAgent,
    limits: { timeoutMs, maxRequests, maxBytes },
    pagesPerBrowser,
    connect: fetcher.connect,
    log,
    metrics,
  });
  try {
    await renderer.start();
  } catch (error) {
    await renderer.close();
    return missing(messageOf(error));
  }
  const { version } = search.found;
  log.info({ browser: version, sandbox: renderer.state.sandbox }, 'pages that need JavaScript are rendered');
  return renderer;
}

async function stopAll(stops: readonly (() => Promise<unknown>)[], log: Log): Promise<void> {
  for (const result of await Promise.allSettled(stops.map((stop) => stop()))) {
    if (result.status === 'rejected')
      log.warn({ error: result.reason }, 'a part did not stop cleanly; its leases will expire');
  }
}

function readHosts(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new AppError(
      'hosts_file_unreadable',
      `the hosts file ${path} cannot be read: ${messageOf(error)}`,
      {
        exitCode: EXIT.usage,
        advice: 'Correct fetch.hosts_file, or leave it out to use DNS only.',
      },
    );
  }
}
