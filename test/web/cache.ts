import type { Reply } from './exchange.ts';

/** Rendered answers, bounded by bytes; the least recently used leave first. */
export interface ReplyCache {
  get(key: string): Reply | undefined;
  set(key: string, reply: Reply): void;
}

/** An entry's cost besides its body: key, object, headers. */
const overheadBytes = 300;

export function createCache(maxBytes: number): ReplyCache {
  const entries = new Map<string, Reply>();
  let bytes = 0;
  // Twice the body: the compressed form may join it later.
  const sizeOf = (reply: Reply) => reply.body.length * 2 + overheadBytes;
  return {
    get(key) {
      const reply = entries.get(key);
      if (reply !== undefined) {
        entries.delete(key);
        entries.set(key, reply);
      }
      return reply;
    },
    set(key, reply) {
      const size = sizeOf(reply);
      if (size > maxBytes / 4) return;
      entries.set(key, reply);
      bytes += size;
      for (const [oldest, old] of entries) {
        if (bytes <= maxBytes) break;
        entries.delete(oldest);
        bytes -= sizeOf(old);
      }
    },
  };
}
