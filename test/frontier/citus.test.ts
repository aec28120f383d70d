import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runOutrider } from '../process/outrider.ts';

// CITUS_URL names the coordinator of a cluster, whose workers must take connections as it does. A database of our own is
// made on each node and dropped again.
const given = process.env.CITUS_URL;

/** What Citus 13.0 refuses of the hot path; docs/decisions/0125-citus.md. Shorter lists are good news: change it. */
const refused = [
  ...['frontier_submit', 'frontier_due_buckets', 'frontier_waking_buckets', 'frontier_promote'],
  ...['frontier_lease', 'frontier_renew', 'frontier_settle'],
];

describe.skipIf(given === undefined)('on Citus', () => {
  const name = `outrider_citus_${randomBytes(4).toString('hex')}`;
  let nodes: { host: string; port: number }[] = [];
  let home: string;
  const addressOf = (node: { host: string; port: number } | null, database: string): string => {
    const url = new URL(given!);
    url.pathname = `/${database}`;
    if (node !== null) [url.hostname, url.port] = [node.host, String(node.port)];
    return url.href;
  };
  const ask = async (address: string, sql: string): Promise<Record<string, unknown>[]> => {
    const client = new pg.Client({ connectionString: address });
    await client.connect();
    try {
      return (await client.query(sql)).rows as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  };
  const database = new URL(given ?? 'postgresql://nobody/').pathname.slice(1);

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'outrider-citus-'));
    nodes = (await ask(
      given!,
      `SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE groupid <> 0 AND isactive`,
    )) as typeof nodes;
    const own = (await ask(
      given!,
      `SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE groupid = 0`,
    )) as typeof nodes;
    for (const node of [null, ...nodes]) {
      await ask(addressOf(node, database), `CREATE DATABASE ${name}`);
      await ask(addressOf(node, name), 'CREATE EXTENSION citus');
    }
    for (const node of own)
      await ask(addressOf(null, name), `SELECT citus_set_coordinator_host('${node.host}', ${node.port})`);
    for (const node of nodes)
      await ask(addressOf(null, name), `SELECT citus_add_node('${node.host}', ${node.port})`);
  });
  afterAll(async () => {
    for (const node of [null, ...nodes])
      await ask(addressOf(node, database), `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    rmSync(home, { recursive: true, force: true });
  });

  const outrider = (...args: string[]) =>
    runOutrider(args, { home, env: { DATABASE_URL: addressOf(null, name) } });

  it('the schema is made there, every hot table can be spread, and what is refused is told', async () => {
    expect((await outrider('migrate')).code).toBe(0);
    const { stdout, stderr } = await outrider('scale', 'citus', '--shards', '4', '--json');
    const told = JSON.parse(stdout) as { obstacles: string[]; refusals: { call: string }[] };
    expect(told.obstacles).toEqual([]);
    expect(told.refusals.map((one) => one.call)).toEqual(refused);
    expect(stderr).toContain('Nothing was changed');
  }, 120_000);

  it('a refusal leaves everything as it was', async () => {
    expect(JSON.parse((await outrider('scale', '--json')).stdout)).toMatchObject({
      mode: 'single',
      distributed: 0,
      missingIndexes: [],
    });
  });
});
