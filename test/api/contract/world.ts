import type { FastifyInstance } from 'fastify';
import { SignJWT } from 'jose';
import { buildApi } from '../../../src/api/index.ts';
import { createChannel } from '../../../src/channels/index.ts';
import { loadConfig } from '../../../src/config/index.ts';
import { indexDocuments } from '../../../src/documents/index.ts';
import { submit } from '../../../src/frontier/index.ts';
import { appendLog, createJob } from '../../../src/jobs/index.ts';
import { saveSink } from '../../../src/outbox/index.ts';
import { createSource } from '../../../src/sources/index.ts';
import { createLog, createMetrics, systemClock } from '../../../src/telemetry/index.ts';
import { startRun } from '../../jobs/standing.ts';
import { createTestDatabase, type TestDatabase } from '../../setup/database.ts';
import { idOf, storeDocuments, textOf } from '../../sinks/store.ts';
import type { ApiDocument } from './operations.ts';

/** The API in this process on a database with something of everything in it. */
export type ContractWorld = {
  app: FastifyInstance;
  database: TestDatabase;
  document: ApiDocument;
  /** Every route there is, as "GET /path/:name". */
  routes: readonly string[];
  /** Sign a request as admin. */
  headers: Readonly<Record<string, string>>;
  /** Values that mean something, by the name of a parameter. */
  known: Record<string, string[]>;
  /** What the log has said of failures. */
  failures: string[];
  close(): Promise<void>;
};

const secret = 'a secret of more than thirty-two bytes';
const article = 'https://herald.example/ferry';

export async function startContractWorld(): Promise<ContractWorld> {
  const database = await createTestDatabase();
  const { pool } = database;
  const { source } = await createSource(pool, { url: 'https://herald.example/', name: 'Herald' });
  const { channel } = await createChannel(pool, {
    sourceId: source.id,
    url: 'https://herald.example/feed.xml',
    kind: 'feed',
    intervalSeconds: 900,
    foundBy: 'manual',
  });
  await storeDocuments(pool, [
    { url: article, sourceId: source.id },
    { url: article, sourceId: source.id, text: textOf(article, 2) },
    { url: 'https://bote.example/hafen', language: 'de' },
  ]);
  while ((await database.db.withTransaction((tx) => indexDocuments(tx, 200))) > 0);
  const waiting = 'https://herald.example/waiting';
  await submit(pool, [
    { url: waiting, kind: 'article', origin: 'manual', sourceId: source.id, priority: 5, own: true },
  ]);
  await saveSink(pool, { name: 'webhook', kind: 'webhook', takes: 'documents' });
  const { job } = await createJob(
    database.db,
    { source: source.slug, intervalMinutes: 6, intervalType: 'hours' },
    { actor: 'test' },
  );
  const execution = await startRun(pool, job.id);
  await appendLog(pool, BigInt(execution), [
    { category: 'fetch', level: 'info', message: '200 https://herald.example/', detail: { bytes: 5 } },
  ]);
  const failures: string[] = [];
  const routes: string[] = [];
  const { config } = loadConfig({
    env: {},
    overrides: {
      'api.port': 0,
      'api.requests_per_minute': 1_000_000,
      'api.refusals_per_minute': 1_000_000,
      'auth.jwt_secret': secret,
    },
  });
  const app = await buildApi({
    database: database.db,
    config,
    clock: systemClock,
    log: createLog({
      level: 'error',
      format: 'json',
      stream: { write: (line: string) => Boolean(failures.push(line)) } as unknown as NodeJS.WritableStream,
    }),
    metrics: createMetrics(),
    version: '0.0.0-test',
    loops: () => [],
    onRoute: ({ method, url }) => {
      for (const one of [method].flat()) routes.push(`${one} ${url}`);
    },
  });
  await app.ready();
  // No token of ours: one of the requests would revoke it.
  const token = await new SignJWT({ sub: 'test', role: 'admin' })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime('1d')
    .sign(new TextEncoder().encode(secret));
  const id = idOf(article);
  return {
    app,
    database,
    routes,
    headers: { authorization: `Bearer ${token}` },
    document: app.swagger() as unknown as ApiDocument,
    known: {
      id: [id, idOf(waiting), String(channel.id), 'webhook', '1', String(job.id), execution],
      slug: [source.slug],
      name: ['herald.example', 'bote.example', 'webhook', 'fetching'],
      source: [source.slug],
      domain: ['herald.example'],
      url: [article, waiting, 'https://nobody.example/'],
    },
    failures,
    close: async () => {
      await app.close();
      await database.drop();
    },
  };
}
