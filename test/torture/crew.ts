import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FaultProxy } from '../process/fault-proxy.ts';
import type { Ledger } from './ledger.ts';

const root = join(fileURLToPath(import.meta.url), '../../../..');
const program = join(root, 'dist', 'src', 'cli', 'main.js');
const preload = new URL('./skewed.js', import.meta.url).href;

export type Role = 'fetch' | 'schedule' | 'serve';

/** How a process ended that was told to; one that has said nothing yet may not have reached its first line. */
export type End = { code: number | null; signal: string | null; hasSpoken: boolean };

/** How a process ended that nobody had ended. */
export type OwnEnd = { life: string; code: number | null; signal: string | null; last: string };

// What a process may end itself with: the database was away for too long, the disk was full, memory ran short.
const allowedCodes = new Set([3, 6, 7]);
const restartMs = 500;
// Several times the grace it has: who is still there then did not hear that he should stop.
const patienceMs = 60_000;

const alive = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

/** A process of the product with its own way to the database; one that ends is started again, as a service manager would. */
export class Member {
  readonly name: string;
  readonly role: Role;
  /** Its way to the database. */
  readonly proxy: FaultProxy;
  readonly ownEnds: OwnEnd[] = [];
  /** Under a fault that another one must not meet. */
  isTaken = false;
  isFrozen = false;
  isCut = false;
  #life = 0;
  #child: ChildProcess | null = null;
  #isWanted = false;
  /** Where in the log this life begins. */
  #logFrom = 0;
  readonly #args: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  readonly #dir: string;
  readonly #ledger: Ledger;

  constructor(options: {
    name: string;
    role: Role;
    args: readonly string[];
    env: NodeJS.ProcessEnv;
    dir: string;
    proxy: FaultProxy;
    ledger: Ledger;
  }) {
    this.name = options.name;
    this.role = options.role;
    this.proxy = options.proxy;
    this.#args = options.args;
    this.#env = options.env;
    this.#dir = options.dir;
    this.#ledger = options.ledger;
  }

  /** Names this start of the process in the web's access log. */
  get life(): string {
    return `${this.name}.${this.#life}`;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  get logFile(): string {
    return join(this.#dir, `${this.name}.log`);
  }

  /** Moves its wall clock; the process follows within a quarter of a second. */
  skewClock(ms: number): void {
    writeFileSync(this.#skewFile, String(ms));
  }

  get #skewFile(): string {
    return join(this.#dir, `${this.name}.skew`);
  }

  start(): void {
    this.#isWanted = true;
    this.#life += 1;
    const log = openSync(this.logFile, 'a');
    this.#logFrom = fstatSync(log).size;
    const child = spawn(process.execPath, [program, ...this.#args], {
      cwd: this.#dir,
      env: {
        ...this.#env,
        DATABASE_URL: this.proxy.url,
        OUTRIDER_FETCH_USER_AGENT: `Outrider/torture (${this.life})`,
        TORTURE_SKEW_FILE: this.#skewFile,
        NODE_OPTIONS: `--import ${preload}`,
      },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    alive.add(child);
    this.#child = child;
    const { life } = this;
    child.once('exit', (code, signal) => {
      alive.delete(child);
      this.#child = null;
      if (!this.#isWanted) return;
      this.#ledger.note(life, `ended by itself with ${code ?? signal}`);
      if (code === null || !allowedCodes.has(code))
        this.ownEnds.push({ life, code, signal, last: lastLines(this.logFile) });
      setTimeout(() => this.#isWanted && this.#child === null && this.start(), restartMs);
    });
  }

  /** Ends it with a signal and leaves it ended; how it ended, or null when it was not running. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<End | null> {
    this.#isWanted = false;
    const child = this.#child;
    if (child === null) return null;
    if (signal === 'SIGKILL') this.#ledger.note(this.life, 'killed');
    child.kill('SIGCONT');
    child.kill(signal);
    const impatience = setTimeout(() => child.kill('SIGKILL'), patienceMs);
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    clearTimeout(impatience);
    const hasSpoken = statSync(this.logFile).size > this.#logFrom;
    return { code: child.exitCode, signal: child.signalCode, hasSpoken };
  }

  freeze(): void {
    this.isFrozen = true;
    this.#child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.isFrozen = false;
    this.#child?.kill('SIGCONT');
  }

  /** Files and sockets it has open, and the memory it has, as the kernel tells; null where it does not. */
  usage(): { files: number; rssMb: number } | null {
    if (this.pid === null) return null;
    try {
      const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
      const size = Number(/^FDSize:\s+(\d+)/m.exec(status)?.[1] ?? 0);
      let files = 0;
      for (let fd = 0; fd < size; fd += 1) if (isOpen(this.pid, fd)) files += 1;
      return { files, rssMb: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024 };
    } catch {
      return null;
    }
  }
}

function isOpen(pid: number, fd: number): boolean {
  try {
    readFileSync(`/proc/${pid}/fdinfo/${fd}`);
    return true;
  } catch {
    return false;
  }
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-8).join('\n');
}
