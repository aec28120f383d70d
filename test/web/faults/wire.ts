import type { Exchange } from '../exchange.ts';

/** A response that is written piece by piece; the log's record is closed when the connection says so. */
export interface Stream {
  write(chunk: Buffer | string): boolean;
  end(): void;
  /** Runs something again and again until the client is gone. */
  every(ms: number, run: () => void): void;
  /** Runs something whenever the client can take more. */
  whenDrained(run: () => void): void;
}

/** Sends the head of a response now. */
export function startStream(
  exchange: Exchange,
  status: number,
  headers: Record<string, string | number>,
): Stream {
  const { response, log, seq } = exchange;
  response.writeHead(status, headers);
  response.flushHeaders();
  log.headers(seq, status);
  let bytes = 0;
  closeRecord(exchange, () => bytes);
  return {
    write(chunk) {
      bytes += chunk.length;
      return response.write(chunk);
    },
    end: () => {
      response.end();
    },
    every(ms, run) {
      const timer = setInterval(run, ms);
      response.once('close', () => clearInterval(timer));
    },
    whenDrained(run) {
      response.on('drain', run);
    },
  };
}

/** Closes the log's record when the response is over, whoever ended it. */
export function closeRecord(exchange: Exchange, bytes: () => number): void {
  const { response, log, seq } = exchange;
  response.once('close', () => log.end(seq, bytes(), !response.writableFinished));
}

/** Does something later, unless the client has gone by then. */
export function later(exchange: Exchange, ms: number, run: () => void): void {
  const { response, log, seq } = exchange;
  const gone = () => {
    clearTimeout(timer);
    log.end(seq, 0, true);
  };
  const timer = setTimeout(() => {
    response.off('close', gone);
    run();
  }, ms);
  response.once('close', gone);
}

/** Writes bytes past the HTTP layer and cuts the connection; for what no honest server would send. */
export function sendRaw(exchange: Exchange, status: number, bytes: Buffer): void {
  const { response, log, seq } = exchange;
  const { socket } = response;
  if (socket === null) return;
  if (status > 0) log.headers(seq, status);
  socket.end(bytes, () => socket.destroySoon());
  response.once('close', () => log.end(seq, bytes.length, true));
}
