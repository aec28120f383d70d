import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type IPty, spawn } from '@lydell/node-pty';

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

/** Text without what moves the cursor or paints. */
export const plain = (text: string): string => text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '');
