import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AccessRecord, PublisherTruth } from './index.ts';

const entry = fileURLToPath(new URL('../../dist/test/web/main.js', import.meta.url));
let child: ChildProcess;
let control: number;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'web-'));
  const args = [
    entry,
    '--publishers',
    '20',
    '--seed',
    '7',
    '--speed',
    '60',
    '--hosts-file',
    join(folder, 'hosts'),
  ];
  child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line')) as [
    string,
  ];
  const message = JSON.parse(line) as { event: string; port: number; control: number };
  expect(message.event).toBe('listening');
  control = message.control;
});
afterEach(async () => {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await rm(folder, { recursive: true });
});

async function call(path: string, init: RequestInit = {}): Promise<unknown> {
  return (await fetch(`http://127.0.0.1:${control}${path}`, init)).json();
}

/** node:http, because fetch sends a Host of its own. */
function ask(address: string, host: string, path: string): Promise<{ status: number | undefined }> {
  const { hostname, port } = new URL(`http://${address}`);
  return new Promise((resolve, reject) => {
    const request = get({ host: hostname, port, path, headers: { host }, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode }));
    });
    request.on('error', reject);
  });
}

const post = (path: string, body: object) => call(path, { method: 'POST', body: JSON.stringify(body) });

describe('the web as a process', () => {
  it('is steered and read over its control port', async () => {
    const lines = (await readFile(join(folder, 'hosts'), 'utf8')).trim().split('\n');
    expect(lines).toHaveLength(20);
    const [address = '', host = ''] = lines[0]?.split(' ') ?? [];
    const { status } = await ask(address, host, '/robots.txt');
    expect(status).toBe(200);

    const [truth] = (await call(`/truth?domain=${host}`)) as [PublisherTruth];
    expect(truth.articles.length).toBeGreaterThan(20);
    const published = (await post('/publish', { domain: host, count: 2 })) as { urls: string[] };
    const [after] = (await call(`/truth?domain=${host}`)) as [PublisherTruth];
    expect(after.articles.map((article) => article.url)).toEqual(expect.arrayContaining(published.urls));

    const { id } = (await post('/faults', { domain: host, name: 'forbidden', on: ['article'] })) as {
      id: number;
    };
    const state = (await call('/state')) as { faults: { domain: string; id: number }[]; now: string };
    expect(state.faults).toContainEqual(expect.objectContaining({ domain: host, id }));
    const left = (await call(`/faults?domain=${host}`, { method: 'DELETE' })) as {
      faults: { domain: string }[];
    };
    expect(left.faults.some((fault) => fault.domain === host)).toBe(false);

    const moved = (await post('/advance', { ms: 3_600_000 })) as { now: string };
    expect(Date.parse(moved.now) - Date.parse(state.now)).toBeGreaterThanOrEqual(3_600_000);
    const log = (await call('/log?since=0')) as { records: AccessRecord[]; next: number };
    expect(log.records).toMatchObject([{ host, path: '/robots.txt', status: 200 }]);
    expect(log.next).toBe(1);
    expect(await call('/violations?delayMs=1000')).toMatchObject({
      requests: 1,
      politeness: [],
      forbidden: [],
    });
  });

  it('says what is wrong with a bad call', async () => {
    expect(await post('/faults', { domain: 'nobody.test', name: 'reset' })).toMatchObject({
      error: expect.stringContaining('nobody.test'),
    });
    expect(await post('/advance', { ms: 'soon' })).toMatchObject({ error: expect.stringContaining('clock') });
    expect(await call('/nothing')).toMatchObject({ error: 'no such route' });
  });

  it('ends when its parent lets go of it', async () => {
    const ended = once(child, 'exit');
    child.stdin?.end();
    expect(await ended).toEqual([0, null]);
  });
});
