// A job queue working through as many URLs as the frontier holds, for bench/frontier. Runs on the Node pinned in
// package.json. Usage: queues.mjs <graphile-worker|graphile-worker-batched|pg-boss> <connection string> <jobs waiting>.
// Protocol: prints { pids } when all is loaded; for each number it reads it does so many jobs and prints
// { urls, calls, elapsedMs }; it keeps its connections open until its input ends, so that their counters can be read.
import { createInterface } from 'node:readline';
import pg from 'pg';

const [peer, connectionString, waiting] = process.argv.slice(2);
const url = (n) =>
  `https://site${String(n % 10_000).padStart(7, '0')}.example/news/2031/05/a-headline-of-the-usual-length-for-a-page-${n}`;
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

// Jobs per call. A settle of ours ends 20 URLs at most; with 20 both queues cost more per job than with this.
const batch = 100;
// A job queue's own defaults: every worker fetches and completes its jobs one by one.
const oneByOne = { concurrentJobs: 10 };
// What its manual recommends for throughput: jobs are fetched, and completed, many at a time.
const batched = {
  concurrentJobs: batch,
  localQueue: { size: batch },
  completeJobBatchDelay: 10,
  failJobBatchDelay: 10,
};

const peers = {
  'graphile-worker': () => openGraphileWorker('graphile_worker', oneByOne),
  'graphile-worker-batched': () => openGraphileWorker('graphile_worker_batched', batched),
  'pg-boss': openPgBoss,
};
const queue = await peers[peer]();
say({ pids: queue.pids });
for await (const line of createInterface({ input: process.stdin })) {
  const startedAt = performance.now();
  const done = await queue.work(Number(line));
  const elapsedMs = performance.now() - startedAt;
  await queue.flush();
  say({ ...done, elapsedMs });
}
process.exit(0);

async function openGraphileWorker(schema, settings) {
  const graphile = await import('graphile-worker');
  const { run, runMigrations } = graphile;
  await runMigrations({ connectionString, preset: { worker: { schema } } });
  const connections = settings === oneByOne ? 10 : 3;
  const pgPool = new pg.Pool({ connectionString, max: connections, idleTimeoutMillis: 0 });
  pgPool.on('error', (error) => process.stderr.write(`graphile-worker: ${error.message}\n`));
  pgPool.on('connect', (client) => client.on('error', () => undefined));
  await pgPool.query(
    `DO $$ BEGIN
       FOR chunk IN 0..${Math.ceil(Number(waiting) / 10_000) - 1} LOOP
         PERFORM count(*) FROM ${schema}.add_jobs(ARRAY(
           SELECT json_populate_record(NULL::${schema}.job_spec, json_build_object('identifier', 'fetch',
                    'payload', json_build_object('url', replace('${url(0)}', '0000000', lpad((n % 10000)::text, 7, '0')) || n),
                    'priority', -(3 + n % 5)))
             FROM generate_series(chunk * 10000, chunk * 10000 + 9999) n));
       END LOOP;
     END $$`,
  );
  await pgPool.query(`VACUUM (ANALYZE) ${schema}._private_jobs`);
  const pids = await eachClient(pgPool, connections, 'SELECT pg_backend_pid() AS pid');
  return {
    pids: pids.map((row) => row.pid),
    work: async (count) => {
      let done = 0;
      const finished = Promise.withResolvers();
      const fetch = () => {
        done += 1;
        if (done === count) finished.resolve();
      };
      const runner = await run({
        pgPool,
        taskList: { fetch },
        preset: { worker: { schema, preparedStatements: true, ...settings } },
        noHandleSignals: true,
        crontab: '',
        logger: quietLogger(graphile),
      });
      await finished.promise;
      await runner.stop();
      return { urls: done };
    },
    flush: () => eachClient(pgPool, connections, 'SELECT pg_stat_force_next_flush()'),
  };
}

function quietLogger({ Logger }) {
  return new Logger(() => (level, message) => {
    if (level === 'error') process.stderr.write(`graphile-worker: ${message}\n`);
  });
}

async function eachClient(pool, count, sql) {
  const clients = [];
  for (let n = 0; n < count; n += 1) clients.push(await pool.connect());
  const rows = [];
  for (const client of clients) rows.push((await client.query(sql)).rows[0]);
  for (const client of clients) client.release();
  return rows;
}

async function openPgBoss() {
  const { PgBoss } = await import('pg-boss');
  // One connection: pg-boss starts statements while others run, a pool lets them wait.
  const client = new pg.Pool({ connectionString, max: 1, idleTimeoutMillis: 0 });
  const boss = new PgBoss({
    db: { executeSql: (text, values) => client.query(text, values) },
    supervise: false,
    schedule: false,
  });
  boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
  await boss.start();
  await boss.createQueue('fetch');
  for (let n = 0; n < Number(waiting); n += 10_000)
    await boss.insert(
      'fetch',
      Array.from({ length: 10_000 }, (_, i) => ({ data: { url: url(n + i) }, priority: 3 + (i % 5) })),
    );
  await client.query('VACUUM (ANALYZE)');
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  return {
    pids: [rows[0].pid],
    work: async (count) => {
      let done = 0;
      let calls = 0;
      while (done < count) {
        const jobs = await boss.fetch('fetch', { batchSize: batch });
        await boss.complete(
          'fetch',
          jobs.map((job) => job.id),
        );
        done += jobs.length;
        calls += 1;
      }
      return { urls: done, calls };
    },
    flush: () => client.query('SELECT pg_stat_force_next_flush()'),
  };
}
