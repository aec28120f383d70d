import { Worker } from 'node:worker_threads';
import type { Ingested, IngestSettings, PageResponse } from '../response.ts';
import { packRequest, type ReadAnswer, type Task, unpackIngested } from './message.ts';

/** Limits of the thread. */
export type ReaderThreadOptions = {
  /** What it may allocate; a page of 10 MB needs about 120. */
  memoryMb?: number;
  /** Ended after so long without work, so that an idle fetcher does not keep its memory. */
  idleMs?: number;
};

type Job = {
  response: PageResponse;
  settings: IngestSettings;
  task: Task;
  deadlineMs: number;
  resolve: (ingested: Ingested) => void;
  reject: (error: unknown) => void;
  interim: Ingested | null;
};

// Node 20 runs no TypeScript: from the sources (tests) the thread is started from the build.
const entry = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/src/ingest/threads/worker.js' : './worker.js',
  import.meta.url,
);

/**
 * A thread that reads one response at a time and is ended and replaced when one takes too long. Started by the first
 * response. One is enough: what comes here is rare, and the machine may have a single core.
 */
export class ReaderThread {
  readonly #memoryMb: number;
  readonly #idleMs: number;
  readonly #queue: Job[] = [];
  #worker: Worker | null = null;
  #isReady = false;
  #job: Job | null = null;
  #deadline: ReturnType<typeof setTimeout> | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #ending: Promise<unknown> = Promise.resolve();

  constructor({ memoryMb = 256, idleMs = 30_000 }: ReaderThreadOptions = {}) {
    this.#memoryMb = memoryMb;
    this.#idleMs = idleMs;
  }

  /** Reads a response; waiting for its turn does not count against the deadline. Rejects for what nobody foresaw. */
  read(
    response: PageResponse,
    settings: IngestSettings,
    options: { task: Task; deadlineMs: number },
  ): Promise<Ingested> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ response, settings, ...options, resolve, reject, interim: null });
      this.#next();
    });
  }

  /** Ends the thread; what waits is rejected. */
  async close(): Promise<void> {
    const left = this.#queue.splice(0);
    if (this.#job !== null) left.unshift(this.#job);
    this.#end();
    for (const job of left) job.reject(new Error('the reading thread was closed'));
    await this.#ending;
  }

  #next(): void {
    if (this.#job !== null) return;
    const job = this.#queue.shift();
    if (job === undefined) return;
    clearTimeout(this.#idle);
    this.#job = job;
    if (this.#worker === null) {
      // The old thread must be gone first, or two of them could hold the memory of one.
      void this.#ending.then(() => {
        if (this.#job === job) this.#start();
      });
    } else this.#send();
  }

  #start(): void {
    const worker = new Worker(entry, {
      name: 'outrider reader',
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: this.#memoryMb, maxYoungGenerationSizeMb: 32 },
    });
    this.#worker = worker;
    const ifCurrent = (act: () => void): void => {
      if (this.#worker === worker) act();
    };
    worker.on('message', (answer: ReadAnswer) => ifCurrent(() => this.#hear(answer)));
    worker.on('error', (error) => ifCurrent(() => this.#fail(error)));
    worker.on('exit', (code) =>
      ifCurrent(() => this.#fail(new Error(`the reading thread ended with code ${code}`))),
    );
  }

  #send(): void {
    const job = this.#job;
    const worker = this.#worker;
    if (job === null || worker === null || !this.#isReady) return;
    worker.ref();
    const { message, transfer } = packRequest(job.response, job.settings, job.task);
    worker.postMessage(message, transfer);
    this.#deadline = setTimeout(() => this.#miss(job), job.deadlineMs);
  }

  #hear(answer: ReadAnswer): void {
    if (answer.answer === 'ready') {
      this.#isReady = true;
      this.#send();
      return;
    }
    const job = this.#job;
    if (job === null) return;
    if (answer.answer === 'interim') {
      job.interim = answer.ingested;
      return;
    }
    this.#finish();
    if (answer.answer === 'done') job.resolve(this.#unpack(job, answer.ingested));
    else job.reject(answer.error);
    this.#next();
  }

  #unpack(job: Job, ingested: Ingested): Ingested {
    return unpackIngested(ingested, job.response, job.settings.keepHtml);
  }

  #finish(): void {
    clearTimeout(this.#deadline);
    this.#job = null;
    // An idle thread must not keep a process alive that wants to end.
    this.#worker?.unref();
    this.#idle = setTimeout(() => this.#end(), this.#idleMs).unref();
  }

  #miss(job: Job): void {
    this.#giveUp(job, 'read_timeout', `reading took longer than ${job.deadlineMs} ms`);
  }

  #fail(error: unknown): void {
    const job = this.#job;
    if (job !== null && (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY') {
      this.#giveUp(job, 'read_memory', `reading took more than ${this.#memoryMb} MB`);
      return;
    }
    this.#end();
    job?.reject(error);
    this.#next();
  }

  #giveUp(job: Job, reason: 'read_timeout' | 'read_memory', detail: string): void {
    this.#end();
    job.resolve(
      job.interim === null ? { outcome: 'unreadable', reason, detail } : this.#unpack(job, job.interim),
    );
    this.#next();
  }

  #end(): void {
    clearTimeout(this.#deadline);
    clearTimeout(this.#idle);
    this.#job = null;
    const worker = this.#worker;
    if (worker === null) return;
    this.#worker = null;
    this.#isReady = false;
    this.#ending = worker.terminate();
  }
}
