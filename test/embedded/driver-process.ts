import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OpenOptions } from '../../src/db/index.ts';
import type { DriverAnswer, DriverCall } from './driver.ts';

const program = join(fileURLToPath(import.meta.url), '../../../dist/test/embedded/driver.js');

/** A real process with a database open in it. */
export class Driver {
  readonly child: ChildProcess;
  readonly wrote: number[] = [];
  #answers: ((answer: DriverAnswer) => void)[] = [];

  constructor(options: { uid?: number; home: string; env?: Record<string, string> }) {
    if (!existsSync(program)) throw new Error('run npm run build first: process tests run from dist/');
    this.child = fork(program, [], {
      execArgv: [],
      env: { PATH: process.env.PATH ?? '', HOME: options.home, ...options.env },
      cwd: '/',
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    });
    this.child.on('message', (answer: DriverAnswer) => {
      if (answer.wrote !== undefined) this.wrote.push(answer.wrote);
      else this.#answers.shift()?.(answer);
    });
    this.child.on('exit', () => {
      for (const settle of this.#answers.splice(0))
        settle({ error: { code: 'killed', message: 'the process ended', advice: undefined } });
    });
  }

  async call(message: DriverCall): Promise<DriverAnswer> {
    const answer = new Promise<DriverAnswer>((resolve) => this.#answers.push(resolve));
    this.child.send(message, () => undefined);
    return answer;
  }

  async open(options: OpenOptions): Promise<void> {
    const { error } = await this.call({ call: 'open', options });
    if (error) throw Object.assign(new Error(error.message), error);
  }

  async query<R = Record<string, unknown>>(sql: string): Promise<R[]> {
    const { error, rows } = await this.call({ call: 'query', sql });
    if (error) throw Object.assign(new Error(error.message), error);
    return rows as R[];
  }

  async close(): Promise<void> {
    const { error } = await this.call({ call: 'close' });
    if (error) throw Object.assign(new Error(error.message), error);
    await this.ended();
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended();
  }

  async ended(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }
}
