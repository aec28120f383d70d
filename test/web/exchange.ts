import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AccessLog } from './access-log.ts';
import type { Site } from './site.ts';

/** What a request asks for; faults choose by it. */
export type RequestKind = 'robots' | 'feed' | 'sitemap' | 'listing' | 'article' | 'image' | 'other';

/** Everything but robots.txt. */
export const allPages: readonly RequestKind[] = ['feed', 'sitemap', 'listing', 'article', 'image', 'other'];

/** A whole answer, ready to be sent. */
export interface Reply {
  status: number;
  /** Content-Type; left out when empty. */
  type: string;
  body: Buffer;
  etag?: string;
  lastModifiedMs?: number;
  location?: string;
  maxAgeS?: number;
  headers?: Readonly<Record<string, string>>;
  /** The compressed body, made once. */
  packed?: Buffer;
}

/** One request with its answer under way. */
export interface Exchange {
  site: Site;
  host: string;
  path: string;
  query: string;
  kind: RequestKind;
  nowMs: number;
  seq: number;
  request: IncomingMessage;
  response: ServerResponse;
  log: AccessLog;
  /** The healthy answer, rendered when first asked for. */
  reply(): Reply;
  /** The healthy answer to another address of the same host. */
  replyFor(path: string, query: string): Reply;
  /** Replaces what the healthy path will send. */
  replace(reply: Reply): void;
  /** Sends a whole answer and closes the log's record. */
  send(reply: Reply): void;
  /** The address of another publisher's front page, for what leads away. */
  elsewhere(): string;
}
