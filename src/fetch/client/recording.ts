import type { Failure, ResponseHeaders } from './result.ts';

/** Why a recorded body is not whole, in the words of WARC 1.1 section 5.13. */
export type Truncation = 'length' | 'time' | 'disconnect' | 'unspecified';

/** What was answered: the lines as they came, with the empty one at their end. */
export type RecordedHead = {
  status: number;
  lines: Buffer;
  validators: { etag: string | null; lastModified: string | null };
};

/** Room for what is recorded at once; all recordings of a process share one. */
export class RecordingRoom {
  readonly #most: number;
  #used = 0;

  constructor(mostBytes: number) {
    this.#most = mostBytes;
  }

  get used(): number {
    return this.#used;
  }

  /** Answers how many of these bytes there is room for, and holds it. */
  take(bytes: number): number {
    const granted = Math.max(0, Math.min(bytes, this.#most - this.#used));
    this.#used += granted;
    return granted;
  }

  giveBack(bytes: number): void {
    this.#used -= bytes;
  }
}

/**
 * What one exchange wrote and read, kept for archives: heads as they stood on the wire, and the body without its
 * transfer coding but with its content coding. It may end after the exchange's outcome is known, when a body that
 * nobody wants is read out.
 */
export class Recording {
  readonly #room: RecordingRoom;
  readonly #most: number;
  readonly #ended: Promise<void>;
  #end: () => void = () => undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isOver = false;
  /** Monotonic, when the request was written. */
  startedAt = 0;
  method = '';
  requestHead: Buffer = Buffer.alloc(0);
  head: RecordedHead | null = null;
  address: string | null = null;
  truncated: Truncation | null = null;

  constructor(room: RecordingRoom, mostBytes: number) {
    this.#room = room;
    this.#most = mostBytes;
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Bytes of the body that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Resolves when nothing more will come. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** The request as undici writes it: in this order, in lower case. */
  begin(request: {
    method: string;
    url: URL;
    headers: readonly string[];
    payloadBytes: number | null;
  }): void {
    const { method, url, headers, payloadBytes } = request;
    let text = `${method} ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\n`;
    // undici closes after HEAD because of servers that send a body all the same.
    text += `connection: ${method === 'HEAD' ? 'close' : 'keep-alive'}\r\n`;
    for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`;
    if (payloadBytes !== null) text += `content-length: ${payloadBytes}\r\n`;
    this.method = method;
    this.requestHead = Buffer.from(`${text}\r\n`, 'latin1');
    this.startedAt = performance.now();
  }

  /** The response's status and headers. The protocol version is not told by the parser; ours is 1.1. */
  answer(
    status: number,
    reason: string,
    headers: { read: ResponseHeaders; raw: readonly (Buffer | string)[] },
  ): void {
    const { read, raw } = headers;
    const parts: Buffer[] = [Buffer.from(`HTTP/1.1 ${status} ${reason}\r\n`, 'latin1')];
    for (let at = 0; at + 1 < raw.length; at += 2)
      parts.push(bytesOf(raw[at]!), separator, bytesOf(raw[at + 1]!), lineEnd);
    parts.push(lineEnd);
    const validators = { etag: read.etag ?? null, lastModified: read['last-modified'] ?? null };
    this.head = { status, lines: Buffer.concat(parts), validators };
  }

  /** The next part of the body, in memory of its own. */
  add(chunk: Buffer): void {
    if (this.#isOver || this.truncated !== null) return;
    const wanted = Math.min(chunk.length, this.#most - this.#bytes);
    const granted = this.#room.take(wanted);
    if (granted < chunk.length) this.truncated = 'length';
    if (granted === 0) return;
    this.#bytes += granted;
    // A copy: a slice would keep the whole.
    this.#chunks.push(granted === chunk.length ? chunk : Buffer.from(chunk.subarray(0, granted)));
  }

  /** Nothing more will come. */
  end(truncated: Truncation | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.truncated ??= truncated;
    this.#end();
  }

  /** The body as far as it is kept. */
  body(): Buffer {
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks, this.#bytes);
  }

  /** Gives its room back; what is kept of the body is gone with it. */
  release(): void {
    this.end('unspecified');
    this.#room.giveBack(this.#bytes);
    this.#bytes = 0;
    this.#chunks = [];
  }
}

const separator = Buffer.from(': ');
const lineEnd = Buffer.from('\r\n');
const bytesOf = (text: Buffer | string): Buffer =>
  typeof text === 'string' ? Buffer.from(text, 'latin1') : text;

/** What a failure after the headers means for the body: most are the connection's end. */
export function truncationOf({ kind }: Failure): Truncation {
  if (kind === 'timeout') return 'time';
  if (kind === 'body_too_large') return 'length';
  return kind === 'aborted' ? 'unspecified' : 'disconnect';
}
