import { type Duplex, Readable, Writable } from 'node:stream';
import type pg from 'pg';

// COPY as streams. pg hands its connection to any object with a submit method and tells it of each answer; that is
// all COPY needs, so no further package is used.

type CopyConnection = {
  stream: Duplex;
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
};

const batchBytes = 65_536;

function ignore(): void {
  // An answer of the server that COPY has no use for.
}

class CopyOut extends Readable {
  #sql: string;
  #connection: CopyConnection | undefined;
  #batch: Buffer[] = [];
  #bytes = 0;

  constructor(sql: string) {
    super({ highWaterMark: 4 * batchBytes });
    this.#sql = sql;
  }

  submit(connection: CopyConnection): void {
    this.#connection = connection;
    connection.query(this.#sql);
  }

  // One message per row: collected, because small rows one by one cost more in stream calls than in work. Copied,
  // because the parser uses its buffer again.
  handleCopyData(message: { chunk: Buffer }): void {
    this.#batch.push(Buffer.from(message.chunk));
    this.#bytes += message.chunk.length;
    if (this.#bytes >= batchBytes && !this.#flush()) this.#connection?.stream.pause();
  }

  #flush(): boolean {
    if (this.#bytes === 0) return true;
    const chunk = Buffer.concat(this.#batch, this.#bytes);
    this.#batch = [];
    this.#bytes = 0;
    return this.push(chunk);
  }

  override _read(): void {
    this.#connection?.stream.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#connection?.stream.resume();
    callback(error);
  }

  handleReadyForQuery(): void {
    this.#flush();
    this.push(null);
  }

  handleError(error: Error): void {
    this.destroy(error);
  }

  handleCommandComplete = ignore;
}

class CopyIn extends Writable {
  #sql: string;
  #connection: CopyConnection | undefined;
  #onReady: (() => void) | undefined;
  #onDone: (() => void) | undefined;
  #finished = false;

  constructor(sql: string) {
    super({ highWaterMark: 4 * batchBytes });
    this.#sql = sql;
  }

  submit(connection: CopyConnection): void {
    connection.query(this.#sql);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    this.#connection = connection;
    if (this.destroyed) connection.sendCopyFail('the import was given up');
    else this.#onReady?.();
  }

  #whenReady(run: (connection: CopyConnection) => void): void {
    if (this.#connection) run(this.#connection);
    else this.#onReady = () => this.#connection && run(this.#connection);
  }

  override _write(chunk: Buffer, _encoding: string, callback: (error?: Error | null) => void): void {
    this.#whenReady((connection) => {
      connection.sendCopyFromChunk(chunk);
      if (connection.stream.writableNeedDrain) connection.stream.once('drain', () => callback());
      else callback();
    });
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#whenReady((connection) => {
      this.#onDone = () => callback();
      connection.endCopyFrom();
    });
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (error && !this.#finished) this.#connection?.sendCopyFail('the import was given up');
    callback(error);
  }

  handleReadyForQuery(): void {
    this.#finished = true;
    this.#onDone?.();
  }

  handleError(error: Error): void {
    this.#finished = true;
    this.destroy(error);
  }

  handleCommandComplete = ignore;
}

/** Rows of a COPY ... TO STDOUT; reading slowly slows the server down. */
export function copyOut(client: pg.ClientBase, sql: string): Readable {
  return client.query(new CopyOut(sql) as unknown as pg.Submittable) as unknown as CopyOut;
}

/** Takes rows for a COPY ... FROM STDIN; finishes when the server has them. */
export function copyIn(client: pg.ClientBase, sql: string): Writable {
  return client.query(new CopyIn(sql) as unknown as pg.Submittable) as unknown as CopyIn;
}
