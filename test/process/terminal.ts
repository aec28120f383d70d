import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type IPty, spawn } from '@lydell/node-pty';
import { endMark, type HostAnswer, type HostOrder } from './host-order.ts';

const root = join(fileURLToPath(import.meta.url), '../../..');

/** The built command line, for those who start it themselves. */
export const programPath = join(root, 'dist', 'src', 'cli', 'main.js');

/** What a person at a terminal saw, as it came. */
export type Seen = { text: string; code: number };

export type TerminalOptions = {
  home: string;
  columns: number;
  env?: Readonly<Record<string, string>>;
  /** A line for a shell instead of arguments for the program; $outrider starts it. */
  shell?: string;
  /** Called with everything seen so far; may type. */
  onText?: (text: string, terminal: Pick<IPty, 'write'>) => void;
};

/** Runs the command line in a pseudo-terminal to its end. */
export function inTerminal(args: readonly string[], options: TerminalOptions): Promise<Seen> {
  const { shell } = options;
  const [file, list] =
    shell === undefined ? [process.execPath, [programPath, ...args]] : ['/bin/sh', ['-c', shell]];
  const terminal = spawn(file, [...list], {
    name: options.env?.TERM ?? 'xterm-256color',
    cols: options.columns,
    rows: 40,
    cwd: options.home,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: options.home,
      outrider: `${process.execPath} ${programPath}`,
      ...options.env,
    },
  });
  return new Promise((resolve) => {
    let text = '';
    terminal.onData((data) => {
      text += data;
      options.onText?.(text, terminal);
    });
    terminal.onExit(({ exitCode }) => resolve({ text: text.replaceAll('\r\n', '\n'), code: exitCode }));
  });
}

/** Runs commands one after the other in one pseudo-terminal, whose program is loaded once. */
export class TerminalHost {
  readonly #home: string;
  readonly #terminal: IPty;
  readonly #socket: Socket;
  readonly #lines: AsyncIterator<string>;
  #hasEnded = false;
  #text = '';
  #onText: () => void = () => undefined;

  constructor(home: string, terminal: IPty, socket: Socket) {
    this.#home = home;
    this.#terminal = terminal;
    this.#socket = socket;
    this.#lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    terminal.onData((data) => {
      this.#text += data;
      this.#onText();
    });
    terminal.onExit(() => {
      this.#hasEnded = true;
    });
  }

  static async start(home: string): Promise<TerminalHost> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const program = join(root, 'dist', 'test', 'process', 'cli-host.js');
    const terminal = spawn(process.execPath, [program, String(port)], {
      name: 'xterm-256color',
      cols: 80,
      rows: 40,
      cwd: home,
      env: { PATH: process.env.PATH ?? '' },
    });
    const [socket] = (await once(server, 'connection')) as [Socket];
    server.close();
    return new TerminalHost(home, terminal, socket);
  }

  /** As `inTerminal`, for commands that end by themselves. */
  async run(
    args: readonly string[],
    options: { columns: number; env?: Readonly<Record<string, string>> },
  ): Promise<Seen> {
    if (this.#hasEnded) throw new Error(`the process ended before ${args.join(' ')}: ${this.#text}`);
    const env = { HOME: this.#home, TERM: 'xterm-256color', ...options.env };
    const order: HostOrder = { args: [...args], env, cwd: this.#home, columns: options.columns };
    this.#terminal.resize(options.columns, 40);
    this.#text = '';
    this.#socket.write(`${JSON.stringify(order)}\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error(`the process ended while it ran ${args.join(' ')}: ${this.#text}`);
    await new Promise<void>((resolve) => {
      this.#onText = () => {
        if (this.#text.includes(endMark)) resolve();
      };
      this.#onText();
    });
    const { code, left } = JSON.parse(value) as HostAnswer;
    if (left.length > 0) throw new Error(`${args.join(' ')} left open: ${left.join(' ')}`);
    return { text: this.#text.slice(0, this.#text.indexOf(endMark)).replaceAll('\r\n', '\n'), code };
  }

  async close(): Promise<void> {
    if (this.#hasEnded) return;
    const ended = new Promise<void>((resolve) => this.#terminal.onExit(() => resolve()));
    this.#socket.end();
    await ended;
  }
}

/** Text without what moves the cursor or paints. */
export const plain = (text: string): string => text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '');
