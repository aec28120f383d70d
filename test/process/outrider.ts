import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isAlive, ticketOf } from '../../src/db/embedded/process-identity.ts';
import { waitUntil } from '../e2e/wait.ts';
import type { HostAnswer, HostOrder } from './host-order.ts';

const root = join(fileURLToPath(import.meta.url), '../../..');
const program = join(root, 'dist', 'src', 'cli', 'main.js');

/** How the program is started: only what is given here reaches it, nothing of the test run's environment. */
export type StartOptions = {
  /** Home of the user, so that nothing of the real one is read or written. */
  home: string;
  env?: Readonly<Record<string, string>>;
  input?: string;
  cwd?: string;
};

/** How a program ended and what it said. */
export type Ended = { code: number | null; signal: string | null; stdout: string; stderr: string };

// A test that fails half way must not leave processes; a killed supervisor's roles end by themselves.
const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** The command line as a real process. */
export class Outrider {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';

  constructor(args: readonly string[], options: StartOptions) {
    if (!existsSync(program)) throw new Error('run npm run build first: process tests run from dist/');
    this.child = spawn(process.execPath, [program, ...args], {
      cwd: options.cwd ?? options.home,
      // No browser unless a test is about one: each costs a start and a hundred megabytes.
      env: {
        PATH: process.env.PATH ?? '',
        HOME: options.home,
        OUTRIDER_RENDER_ENABLED: 'off',
        ...options.env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    alive.add(this.child);
    this.child.once('exit', () => alive.delete(this.child));
    this.child.stdin!.end(options.input ?? '');
  }

  get pid(): number {
    return this.child.pid!;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Waits for words on either stream; fails at once when the program ends without them. */
  async says(words: string | RegExp, deadlineMs?: number): Promise<void> {
    const said = (): boolean => {
      const text = this.stdout + this.stderr;
      return typeof words === 'string' ? text.includes(words) : words.test(text);
    };
    await waitUntil(
      `it says ${words}`,
      () => {
        if (said()) return true;
        if (!this.isRunning) throw new Error(`it ended without saying ${words}: ${this.stderr}`);
        return this.stderr.slice(-500);
      },
      deadlineMs,
    );
  }

  /** Sends a signal and waits for the end. */
  async stop(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL' = 'SIGTERM'): Promise<Ended> {
    if (this.isRunning) this.child.kill(signal);
    return this.ended();
  }

  /** Waits for the end, streams included. */
  async ended(): Promise<Ended> {
    if (this.isRunning) await once(this.child, 'close');
    const { exitCode: code, signalCode: signal } = this.child;
    return { code, signal, stdout: this.stdout, stderr: this.stderr };
  }
}

/** Runs the program to its end. */
export function runOutrider(args: readonly string[], options: StartOptions): Promise<Ended> {
  return new Outrider(args, options).ended();
}

/** Runs commands one after the other in a process of their own, which loads the program once. */
export class CliHost {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #last: Promise<unknown> = Promise.resolve();

  constructor() {
    this.#child = spawn(process.execPath, [join(root, 'dist', 'test', 'process', 'cli-host.js')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    alive.add(this.#child);
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  /** As `runOutrider`; fails as well where a process of its own would not have ended. */
  run(args: readonly string[], { home, env = {}, cwd = home, input }: StartOptions): Promise<Ended> {
    const order: HostOrder = { args: [...args], env: { HOME: home, ...env }, cwd };
    if (input !== undefined) order.input = input;
    const next = this.#last.then(async () => {
      this.#child.stdin!.write(`${JSON.stringify(order)}\n`);
      const { value, done } = await this.#lines.next();
      if (done === true) throw new Error(`the process ended while it ran ${args.join(' ')}`);
      const { left, ...ended } = JSON.parse(value) as HostAnswer;
      if (left.length > 0) throw new Error(`${args.join(' ')} left open: ${left.join(' ')}`);
      return { ...ended, signal: null };
    });
    this.#last = next.catch(() => undefined);
    return next;
  }

  async close(): Promise<void> {
    this.#child.stdin!.end();
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
    alive.delete(this.#child);
  }
}

/** Whether a process is there; one that ended and that nobody has asked about yet is not. */
export const isRunning = (pid: number): boolean => isAlive(ticketOf(pid));
