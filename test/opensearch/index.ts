import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { waitUntil } from '../e2e/wait.ts';
import { freePort } from '../process/free-port.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..').replace(/[\\/]dist$/, '');
const folder = join(root, 'test', 'opensearch');
const resolvePlugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath';

/** A real OpenSearch that can be stopped and started again with its data. */
export type OpenSearch = {
  url: string;
  /** A request with a JSON answer. */
  ask<T = Record<string, unknown>>(method: string, path: string, body?: object): Promise<T>;
  start(): Promise<void>;
  /** Kills it as a crash would. */
  kill(): Promise<void>;
  close(): Promise<void>;
};

/** The class path of the server, from Maven's artifacts; or why there is none here. */
export async function findOpenSearch(): Promise<{ classPath: string } | { missing: string }> {
  const pom = join(folder, 'pom.xml');
  const cache = join(root, 'node_modules', '.cache');
  // Asking Maven takes longer than starting the server.
  const known = join(
    cache,
    `outrider-opensearch-${createHash('sha256').update(readFileSync(pom)).digest('hex').slice(0, 12)}.cp`,
  );
  const read = (): string | null => {
    const text = existsSync(known) ? readFileSync(known, 'utf8').trim() : '';
    return text !== '' && text.split(delimiter).every((path) => existsSync(path)) ? text : null;
  };
  try {
    await run('java', ['-version']);
    const classPath = read();
    if (classPath !== null) return { classPath };
    const target = join(mkdtempSync(join(tmpdir(), 'outrider-mvn-')), 'cp');
    await run('mvn', ['-q', '-f', pom, resolvePlugin, `-Dmdep.outputFile=${target}`], { timeout: 240_000 });
    mkdirSync(cache, { recursive: true });
    // Written aside and renamed: another test may be reading it.
    copyFileSync(target, `${known}.${process.pid}`);
    renameSync(`${known}.${process.pid}`, known);
    return { classPath: readFileSync(target, 'utf8').trim() };
  } catch (error) {
    const line = String((error as Error).message).split('\n')[0];
    return {
      missing: `no OpenSearch here (Java 11 or 17 and Maven with its repository are needed): ${line}`,
    };
  }
}

/** Starts a node of its own with an empty data folder. */
export async function startOpenSearch(classPath: string): Promise<OpenSearch> {
  const data = mkdtempSync(join(tmpdir(), 'outrider-opensearch-'));
  const [http, transport] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${http}`;
  let node: ChildProcess | null = null;
  let said = '';
  const answers = async (): Promise<boolean | string> => {
    if (node?.exitCode != null) throw new Error(`OpenSearch ended by itself:\n${said.slice(-2000)}`);
    try {
      return (await fetch(`${url}/_cluster/health?wait_for_status=yellow&timeout=1s`)).ok;
    } catch (error) {
      return String((error as Error).message);
    }
  };
  const server: OpenSearch = {
    url,
    ask: async <T>(method: string, path: string, body?: object): Promise<T> => {
      const response = await fetch(`${url}${path}`, {
        method,
        ...(body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      });
      const answer = (await response.json()) as T;
      if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer).slice(0, 500)}`);
      return answer;
    },
    start: async () => {
      node = spawn(
        'java',
        [
          '-Xmx384m',
          '-XX:TieredStopAtLevel=1',
          // The others start threads for every core, and pay for them at each start.
          '-XX:+UseSerialGC',
          '-cp',
          classPath,
          join(folder, 'OpenSearchNode.java'),
          data,
          String(http),
          String(transport),
        ],
        { stdio: ['pipe', 'pipe', 'pipe'] },
      );
      for (const stream of [node.stdout, node.stderr])
        stream?.on('data', (chunk: Buffer) => {
          said = (said + chunk.toString()).slice(-20_000);
        });
      await waitUntil('OpenSearch answers', answers, 240_000);
    },
    kill: async () => {
      const ending = node;
      node = null;
      if (ending === null || ending.exitCode !== null) return;
      const ended = new Promise((resolve) => ending.once('exit', resolve));
      ending.kill('SIGKILL');
      await ended;
    },
    close: async () => {
      await server.kill();
      rmSync(data, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}
