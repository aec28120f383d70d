import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { runCli } from '../../src/cli/program.ts';
import { endMark, type HostAnswer, type HostOrder } from './host-order.ts';

// Runs command after command in one process: loading the program takes longer than most commands do. Orders and answers
// go over its own input and output, and what commands write is caught; or, in a terminal, over the port that is named, and
// what commands write is seen there.

const patienceMs = 20_000;

/** What is open and was not before, once it has had time to close. */
async function findLeft(before: readonly string[]): Promise<string[]> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const left = [...process.getActiveResourcesInfo()];
    for (const name of before) {
      const at = left.indexOf(name);
      if (at >= 0) left.splice(at, 1);
    }
    if (left.length === 0 || performance.now() > until) return left;
    await delay(5);
  }
}

type Caught = { stdout: string; stderr: string };

/** Keeps what is written from here on instead of writing it. */
function catchOutput(): Caught {
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    process[name].write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
      said[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
      const done = rest.find((one) => typeof one === 'function') as (() => void) | undefined;
      if (done !== undefined) process.nextTick(done);
      return true;
    }) as typeof process.stdout.write;
  return said;
}

const [port] = process.argv.slice(2);
const { PATH } = process.env;
const [input, output] = [process.stdin, process.stdout.write.bind(process.stdout)];
const socket = port === undefined ? null : connect(Number(port), '127.0.0.1');
if (socket !== null) await once(socket, 'connect');
for await (const line of createInterface({ input: socket ?? input })) {
  const order = JSON.parse(line) as HostOrder;
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, { PATH, ...order.env });
  process.chdir(order.cwd);
  process.exitCode = undefined;
  const said = socket === null ? catchOutput() : { stdout: '', stderr: '' };
  if (socket === null)
    Object.defineProperty(process, 'stdin', {
      configurable: true,
      value: Readable.from([Buffer.from(order.input ?? '')]),
    });
  // A change of width comes as a signal, which may be slower than the order.
  while (order.columns !== undefined && process.stdout.columns !== order.columns)
    await once(process.stdout, 'resize');
  const before = process.getActiveResourcesInfo();
  const code = await runCli(order.args);
  const answer: HostAnswer = { code, ...said, left: await findLeft(before) };
  const text = `${JSON.stringify(answer)}\n`;
  if (socket === null) output(text);
  else {
    process.stdout.write(endMark);
    socket.write(text);
  }
}
