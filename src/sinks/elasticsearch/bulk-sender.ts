import { goesOn, isTaken } from '../doubts.ts';
import { excerptOf, type ServiceAnswer } from '../http.ts';
import type { ItemEnd, Outage } from '../sink.ts';
import { outageOf } from './answers.ts';
import { type BulkItem, bulkLines, parseBulkAnswer } from './bulk.ts';

/** A document of a batch: its place there, and whether it has failed before. */
export type Queued = { at: number; item: BulkItem; isBlamed: boolean };

type Written = Queued & { lines: Buffer };

const mostRequestBytes = 12 * 1024 * 1024;

/**
 * Sends documents in requests of a bounded size. A request may fail because of one document in it (a firewall in front
 * hangs up over its words, a node stumbles over its text): it is sent again in halves, until the document stands alone.
 */
export class BulkSender {
  readonly #post: (body: Buffer, signal: AbortSignal) => Promise<ServiceAnswer>;
  // Of an answer that never comes there is no time to send halves: the next batch begins with less.
  #mostAtOnce = Number.POSITIVE_INFINITY;

  constructor(post: (body: Buffer, signal: AbortSignal) => Promise<ServiceAnswer>) {
    this.#post = post;
  }

  /** Notes what became of each document, and answers why the rest was not asked. */
  async send(queued: readonly Queued[], ends: ItemEnd[], signal: AbortSignal): Promise<Outage | null> {
    const written = queued.map((one) => ({ ...one, lines: bulkLines(one.item) }));
    const fresh = written.filter(({ isBlamed }) => !isBlamed);
    // Whoever failed before comes last and fails by itself; a node that it brings down has taken the others by then.
    const groups = [
      this.#mostAtOnce === Number.POSITIVE_INFINITY ? fresh : shuffled(fresh),
      written.filter(({ isBlamed }) => isBlamed),
    ];
    for (const group of groups) {
      for (let left = group; left.length > 0; ) {
        const part = this.#firstOf(left);
        left = left.slice(part.length);
        const outage = await this.#sendPart(part, ends, signal);
        if (outage !== null) return outage;
      }
    }
    const later = ends.find((one) => one.end === 'later');
    return later === undefined ? null : { reason: later.reason };
  }

  #firstOf(left: readonly Written[]): readonly Written[] {
    let bytes = 0;
    let count = 0;
    for (const { lines } of left) {
      bytes += lines.length;
      if (count > 0 && (bytes > mostRequestBytes || count >= this.#mostAtOnce)) break;
      count += 1;
    }
    return left.slice(0, count);
  }

  async #sendPart(part: readonly Written[], ends: ItemEnd[], signal: AbortSignal): Promise<Outage | null> {
    if (!goesOn(ends)) return null;
    const answer = await this.#post(Buffer.concat(part.map(({ lines }) => lines)), signal);
    const read = readAnswer(answer, part);
    if (read.outcome === 'outage') return read.outage;
    if (read.outcome === 'read') {
      this.#mostAtOnce = Math.max(this.#mostAtOnce, 2 * part.length);
      return note(read.results, part, ends);
    }
    if (part.length === 1) {
      ends[part[0]!.at] = read.end;
      return null;
    }
    const middle = part.length >> 1;
    this.#mostAtOnce = middle;
    // Documents of one publisher stand together and may all be of the kind that is refused: who is asked first, while
    // nothing was taken yet, must not be the same ones each time.
    const mixed = shuffled(part);
    return (
      (await this.#sendPart(mixed.slice(0, middle), ends, signal)) ??
      this.#sendPart(mixed.slice(middle), ends, signal)
    );
  }
}

type Reading =
  | { outcome: 'read'; results: (ItemEnd | Outage)[] }
  /** It is about the server. */
  | { outcome: 'outage'; outage: Outage }
  /** It may be about a document; the end is that of one that was alone. */
  | { outcome: 'doubtful'; end: ItemEnd };

// Answers that nobody gives because of a text.
const aboutTheServer = new Set([401, 404, 405, 407, 410, 421, 429]);
// The server itself says so where it may not be written to, or is not ready.
const serversOwn = new Set([403, 503]);

function readAnswer(answer: ServiceAnswer, part: readonly Written[]): Reading {
  const doubtful = (reason: string): Reading => ({ outcome: 'doubtful', end: { end: 'retry', reason } });
  if (answer.outcome === 'failed')
    return answer.broke ? doubtful(answer.reason) : { outcome: 'outage', outage: outageOf(answer) };
  const { status, text, retryAfterMs } = answer;
  if (status < 300) {
    const results = parseBulkAnswer(
      text,
      part.map(({ item }) => item),
    );
    // A firewall may say with 200 that it let nothing through.
    return results === null
      ? doubtful(`the answer to a bulk request cannot be read${excerptOf(text)}`)
      : readResults(results);
  }
  const isOwn = isServersOwn(text);
  const isAboutServer =
    status < 400 ||
    aboutTheServer.has(status) ||
    (isOwn && serversOwn.has(status)) ||
    (status >= 500 && retryAfterMs !== null);
  if (isAboutServer) return { outcome: 'outage', outage: outageOf(answer) };
  const advice =
    isOwn || status === 413 ? '' : ' (not the server itself: a proxy or firewall in front of it)';
  const reason = `the server answered ${status}${advice}${excerptOf(text)}`;
  const isFinal = status === 413 || (status === 400 && isOwn);
  return isFinal ? { outcome: 'doubtful', end: { end: 'rejected', reason } } : doubtful(reason);
}

/** A server that is too busy for every document is asked again later, without blame on the documents. */
function readResults(results: (ItemEnd | Outage)[]): Reading {
  const reasons = results.map((result) => ('end' in result && result.end === 'retry' ? result.reason : null));
  return reasons.every((reason) => reason !== null) && results.length > 1
    ? { outcome: 'outage', outage: { reason: reasons[0]! } }
    : { outcome: 'read', results };
}

/** What one index refuses while others take is about that index; where none takes anything it is about the server. */
function note(
  results: readonly (ItemEnd | Outage)[],
  part: readonly Written[],
  ends: ItemEnd[],
): Outage | null {
  const isAnyTaken = ends.some(isTaken) || results.some((result) => 'end' in result && isTaken(result));
  let outage: Outage | null = null;
  for (const [index, result] of results.entries()) {
    if ('end' in result) ends[part[index]!.at] = result;
    else if (isAnyTaken) ends[part[index]!.at] = { end: 'later', reason: result.reason };
    else outage ??= result;
  }
  return outage;
}

/** Whether a refusal comes from the server: what stands in front of it looks into texts, and may refuse a single one. */
function isServersOwn(text: string): boolean {
  try {
    const { error } = JSON.parse(text) as { error?: { type?: unknown } };
    return typeof error?.type === 'string';
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return false;
    throw error;
  }
}

function shuffled<T>(items: readonly T[]): T[] {
  const mixed = [...items];
  for (let at = mixed.length - 1; at > 0; at -= 1) {
    const other = Math.floor(Math.random() * (at + 1));
    [mixed[at], mixed[other]] = [mixed[other]!, mixed[at]!];
  }
  return mixed;
}
