import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/index.ts';
import { type Engine, startEngine } from '../../src/engine.ts';
import { readLog } from '../../src/jobs/index.ts';
import { createSource, type IngestionMode, type Source } from '../../src/sources/index.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { waitUntil } from '../e2e/wait.ts';
import { plain } from '../fetch/lab.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';
import { type AccessRecord, type PublisherChange, startWeb, type Web } from '../web/index.ts';
import { type ExecutionRow, makeJob, readExecutions } from './fixtures.ts';

/** A web, a database, and an engine that fetches and schedules. */
export class JobLab {
  readonly web: Web;
  readonly database: TestDatabase;
  readonly dir: string;
  readonly overrides: Record<string, unknown>;
  engine: Engine | null = null;

  private constructor(web: Web, database: TestDatabase, dir: string, overrides: Record<string, unknown>) {
    this.web = web;
    this.database = database;
    this.dir = dir;
    this.overrides = overrides;
  }

  /** Starts the web and the database; publishers are named after their cases. */
  static async open(
    publishers: readonly PublisherChange[],
    overrides: Record<string, unknown> = {},
  ): Promise<JobLab> {
    const dir = mkdtempSync(join(tmpdir(), 'outrider-jobs-'));
    const database = await createTestDatabase();
    const web = await startWeb({
      seed: 61,
      publishers: publishers.length,
      changes: publishers,
      startMs: Date.parse('2024-06-05T12:00:00Z'),
      speed: 0,
    });
    await web.writeHostsFile(join(dir, 'hosts'));
    return new JobLab(web, database, dir, {
      'database.url': database.url,
      'fetch.hosts_file': join(dir, 'hosts'),
      'fetch.allow_networks': [`127.0.0.0/8:${web.port}`],
      'fetch.default_delay_ms': 30,
      'fetch.max_tries': 3,
      'jobs.lost_seconds': 3,
      ...overrides,
    });
  }

  /** Starts an engine with everything. */
  async start(roles: ('fetch' | 'schedule')[] = ['fetch', 'schedule']): Promise<Engine> {
    const { config } = loadConfig({ env: {}, overrides: this.overrides });
    const log = createLog({ level: 'error', format: 'json' });
    return startEngine({ config, roles, version: '0.0.0-test', log });
  }

  async close(): Promise<void> {
    await this.engine?.stop();
    await this.web.close();
    await this.database.drop();
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** The publisher of a case as a source. Its own job is not made: tests make theirs. */
  async source(name: string, mode: IngestionMode = 'spider'): Promise<Source> {
    const { source } = await createSource(this.database.pool, { url: `http://${name}.test/`, mode });
    await this.database.pool.query('UPDATE sources SET job_made_at = now() WHERE id = $1', [source.id]);
    return source;
  }

  /** Makes a job that is due now and tells schedulers. */
  async job(columns: Parameters<typeof makeJob>[1]): Promise<number> {
    const id = await makeJob(this.database.pool, columns);
    await this.database.pool.query(`SELECT pg_notify('outrider_jobs', '')`);
    return id;
  }

  /** Makes a scheduled job due again. */
  async dueAgain(id: number): Promise<void> {
    await this.database.pool.query(
      `UPDATE jobs SET next_run_at = now() WHERE id = $1 AND status = 'scheduled'`,
      [id],
    );
    await this.database.pool.query(`SELECT pg_notify('outrider_jobs', '')`);
  }

  /** The last execution of a job, once so many have ended. */
  async ended(id: number, executions = 1): Promise<ExecutionRow> {
    let last: ExecutionRow | undefined;
    await waitUntil(`job ${id} has ended ${executions} runs`, async () => {
      const rows = await readExecutions(this.database.pool, id);
      last = rows[executions - 1];
      const isOver = last !== undefined && last.status !== 'running';
      return isOver || `${rows.length} runs, ${JSON.stringify(last?.metadata)}`;
    });
    return last!;
  }

  /** Lines of an execution's log as `category: message`. */
  async lines(executionId: bigint): Promise<{ id: number; category: string; message: string }[]> {
    return readLog(this.database.pool, executionId, { limit: 100_000 });
  }

  /** What a publisher's server saw, robots.txt left out. */
  requests(name: string): AccessRecord[] {
    return this.web.log.read().filter(({ host, path }) => host === `${name}.test` && path !== '/robots.txt');
  }
}

/** A publisher with a few articles and nothing but links to find them by. */
export const linked = (name: string, change: PublisherChange = {}): PublisherChange =>
  plain(name, change.faults ?? [], { feeds: [], sitemaps: [], ...change });
