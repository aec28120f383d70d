import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../e2e/wait.ts';
import { Outrider } from '../process/outrider.ts';
import { readEvents, readExecutions } from './fixtures.ts';
import { JobLab, linked } from './lab.ts';

// Schedulers and fetchers as processes of their own, so that they can be killed.
const slow = [{ name: 'slow', options: { delayMs: 250 } }];
let lab: JobLab;
const running = new Set<Outrider>();
/** Two of them at every time: who was stopped is replaced. */
let schedulers: Outrider[] = [];

const start = (role: 'fetch' | 'schedule'): Outrider => {
  const one = new Outrider([role], {
    home: lab.dir,
    env: {
      DATABASE_URL: lab.database.url,
      OUTRIDER_FETCH_HOSTS_FILE: `${lab.dir}/hosts`,
      OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${lab.web.port}`,
      OUTRIDER_FETCH_DEFAULT_DELAY_MS: '30',
      OUTRIDER_JOBS_LOST_SECONDS: '3',
      LOG_LEVEL: 'info',
    },
  });
  running.add(one);
  return one;
};

beforeAll(async () => {
  lab = await JobLab.open([
    linked('killed', { backlog: 14, faults: slow }),
    linked('stopped', { backlog: 14, faults: slow }),
  ]);
  start('fetch');
});
afterAll(async () => {
  for (const one of running) await one.stop('SIGKILL');
  await lab?.close();
});

async function startSchedulers(): Promise<void> {
  schedulers = schedulers.filter((one) => one.isRunning);
  while (schedulers.length < 2) schedulers.push(start('schedule'));
  for (const one of schedulers) await one.says('schedule is running');
}

/** The scheduler that runs a job. */
async function holderOf(id: number): Promise<Outrider> {
  let holder: Outrider | undefined;
  await waitUntil('a scheduler runs it', async () => {
    const job = await lab.database.pool.query<{ by: string | null }>(
      'SELECT locked_by AS by FROM jobs WHERE id = $1',
      [id],
    );
    holder = schedulers.find((one) => job.rows[0]?.by?.includes(`-${one.pid}-`));
    return holder !== undefined;
  });
  return holder!;
}

/** Pages that were asked for more than once. */
const repeated = (name: string): string[] => {
  const paths = lab.requests(name).map((one) => one.path);
  return paths.filter((path, at) => paths.indexOf(path) !== at);
};

test('kill -9 during a run: one execution has failed, the job runs again, never two at once', async () => {
  await startSchedulers();
  const source = await lab.source('killed');
  const id = await lab.job({ kind: 'crawl', source_id: source.id });
  const holder = await holderOf(id);
  await waitUntil('it is under way', () => lab.requests('killed').length >= 3);
  await holder.stop('SIGKILL');
  const second = await lab.ended(id, 2);
  const executions = await readExecutions(lab.database.pool, id);
  expect(executions).toMatchObject([
    { number: 1, status: 'failed', error_message: 'the scheduler that ran it was lost' },
    { number: 2, status: 'completed' },
  ]);
  expect(second.started_at.getTime()).toBeGreaterThanOrEqual(executions[0]!.completed_at!.getTime());
  expect(second.worker).not.toBe(executions[0]!.worker);
  expect(await readEvents(lab.database.pool, id)).toEqual([
    'pending>running lease',
    'running>scheduled recover',
    'scheduled>running lease',
    'running>completed complete',
  ]);
  // Fetchers went on with what the lost run had submitted: no article was fetched twice, only listings for the second run.
  const articles = new Set(
    lab.web.groundTruth('killed.test')[0]!.articles.map((one) => new URL(one.url).pathname),
  );
  expect(repeated('killed').filter((path) => articles.has(path))).toEqual([]);
  const documents = await lab.database.pool.query('SELECT FROM documents WHERE source_id = $1', [source.id]);
  expect(documents.rowCount).toBe(articles.size);
});

test('SIGTERM during a run: the other scheduler goes on with the same execution', async () => {
  await startSchedulers();
  const source = await lab.source('stopped');
  const id = await lab.job({ kind: 'crawl', source_id: source.id });
  const holder = await holderOf(id);
  await waitUntil('it is under way', () => lab.requests('stopped').length >= 3);
  const first = (await readExecutions(lab.database.pool, id))[0]!;
  expect((await holder.stop('SIGTERM')).code).toBe(0);
  const run = await lab.ended(id);
  expect(run).toMatchObject({ id: first.id, number: 1, status: 'completed' });
  expect(run.worker).not.toBe(first.worker);
  expect(await readExecutions(lab.database.pool, id)).toHaveLength(1);
  expect(run.items_crawled).toBe(lab.requests('stopped').length);
  expect(repeated('stopped')).toEqual([]);
  const lines = await lab.lines(run.id);
  expect(lines.map((line) => line.id)).toEqual(lines.map((_, at) => at + 1));
  expect(lines.filter((line) => line.category === 'fetch')).toHaveLength(run.items_crawled);
});
