import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { loadavg } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { readOptions } from './options.ts';

const publishers = 200;
const connections = 16;
/** Requests in flight on a connection: enough to keep the server busy while this process reads. */
const pipelined = 8;
const settleMs = 500;

/** What one kind of request cost the server. */
interface Measured {
  perS: number;
  cpuUsPerResponse: number;
  responses: number;
  bytesPerResponse: number;
}

interface Request {
  address: string;
  host: string;
  path: string;
}

/** Measures the simulated web: its process on one core, a bounded load of pipelined requests from this one. */
export async function run(args: string[]): Promise<object> {
  const { seconds } = readOptions(args, { seconds: ['how long each is asked', 4] });
  const windowMs = seconds * 1000;
  const web = await startProcess();
  try {
    const requests = await requestsOf(web.control);
    console.error(
      `simulated web: ${publishers} publishers, ${connections} connections, ${pipelined} in flight each`,
    );
    const small = await measure(web, requests.small, windowMs);
    console.error(`small: ${small.perS} responses/s`);
    const fresh = await measureOnce(web, requests.articles);
    console.error(`articles, each for the first time: ${fresh.perS} responses/s`);
    const article = await measure(web, requests.articles.slice(0, 2_000), windowMs);
    console.error(`articles: ${article.perS} responses/s`);
    return {
      load: loadavg().map((value) => Math.round(value * 100) / 100),
      small,
      article,
      articleFirstTime: fresh,
      cpuUsPerResponse: article.cpuUsPerResponse,
    };
  } finally {
    await web.stop();
  }
}

interface WebProcess {
  port: number;
  control: number;
  stop(): Promise<void>;
}

async function startProcess(): Promise<WebProcess> {
  const entry = fileURLToPath(new URL('../test/web/main.js', import.meta.url));
  const args = [
    entry,
    '--publishers',
    String(publishers),
    '--backlog',
    '60',
    '--healthy',
    '--log-capacity',
    '100000',
  ];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const [line] = (await Promise.race([once(lines, 'line'), once(child, 'exit')])) as [unknown];
  if (typeof line !== 'string')
    throw new Error(`the simulated web ended with ${String(line)} before it listened`);
  const { port, control } = JSON.parse(line) as { port: number; control: number };
  return {
    port,
    control,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

interface Truth {
  host: string;
  address: string;
  articles: { url: string }[];
}

async function requestsOf(control: number): Promise<{ small: Request[]; articles: Request[] }> {
  const truth = (await getJson(control, '/truth')) as Truth[];
  const small = truth.map(({ address, host }) => ({ address, host, path: '/robots.txt' }));
  const articles = truth.flatMap(({ address, host, articles: list }) =>
    list.map(({ url }) => ({ address, host, path: url.slice(`http://${host}`.length) })),
  );
  return { small, articles };
}

async function getJson(control: number, path: string): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${control}${path}`);
  return response.json();
}

async function cpuUsOf(web: WebProcess): Promise<number> {
  return ((await getJson(web.control, '/state')) as { cpuUs: number }).cpuUs;
}

async function measure(web: WebProcess, requests: readonly Request[], windowMs: number): Promise<Measured> {
  // A short run first: the compiler needs some thousand requests to settle.
  await drive(web.port, requests, { untilMs: performance.now() + settleMs });
  return timed(web, () => drive(web.port, requests, { untilMs: performance.now() + windowMs }));
}

async function measureOnce(web: WebProcess, requests: readonly Request[]): Promise<Measured> {
  return timed(web, () => drive(web.port, requests, { total: requests.length }));
}

async function timed(
  web: WebProcess,
  load: () => Promise<{ responses: number; bytes: number }>,
): Promise<Measured> {
  const cpuBefore = await cpuUsOf(web);
  const startedAt = performance.now();
  const { responses, bytes } = await load();
  const seconds = (performance.now() - startedAt) / 1000;
  const cpuUs = (await cpuUsOf(web)) - cpuBefore;
  return {
    perS: Math.round(responses / seconds),
    cpuUsPerResponse: Math.round((cpuUs / responses) * 10) / 10,
    responses,
    bytesPerResponse: Math.round(bytes / responses),
  };
}

/** Keeps every connection filled until a time or a number of requests is reached. */
async function drive(
  port: number,
  requests: readonly Request[],
  limit: { untilMs?: number; total?: number },
): Promise<{ responses: number; bytes: number }> {
  const { untilMs = Number.POSITIVE_INFINITY, total = Number.POSITIVE_INFINITY } = limit;
  const texts = requests.map(
    ({ host, path }) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: bench\r\n\r\n`,
  );
  let sent = 0;
  const sum = { responses: 0, bytes: 0 };
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      const counter = createCounter();
      let open = 0;
      const fill = () => {
        let batch = '';
        for (; open < pipelined && sent < total && performance.now() < untilMs; open++)
          batch += texts[sent++ % texts.length];
        if (batch !== '') socket.write(batch);
        else if (open === 0) socket.end();
      };
      socket.on('connect', fill);
      socket.on('data', (chunk) => {
        const done = counter(chunk);
        open -= done;
        sum.responses += done;
        sum.bytes += chunk.length;
        // Half empty before filling again: one write for several requests.
        if (open <= pipelined / 2) fill();
      });
      socket.on('close', () => resolve());
      socket.on('error', reject);
    });
  await Promise.all(Array.from({ length: connections }, one));
  return sum;
}

const headEnd = Buffer.from('\r\n\r\n');
const lengthName = Buffer.from('Content-Length: ');

/** Counts whole responses in a stream; every response of the healthy web has a Content-Length. */
function createCounter(): (chunk: Buffer) => number {
  let rest: Buffer = Buffer.alloc(0);
  let bodyLeft = 0;
  return (chunk) => {
    let data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let done = 0;
    for (;;) {
      if (bodyLeft > 0) {
        const taken = Math.min(bodyLeft, data.length);
        bodyLeft -= taken;
        data = data.subarray(taken);
        if (bodyLeft > 0) break;
        done += 1;
      }
      const end = data.indexOf(headEnd);
      if (end < 0) break;
      const at = data.indexOf(lengthName);
      if (at < 0 || at > end)
        throw new Error(`response without a length: ${data.toString('latin1', 0, end)}`);
      bodyLeft = Number.parseInt(
        data.toString('latin1', at + lengthName.length, at + lengthName.length + 12),
        10,
      );
      data = data.subarray(end + headEnd.length);
      if (bodyLeft === 0) done += 1;
    }
    rest = data;
    return done;
  };
}
