import {
  type Channel,
  countDropped,
  findPushTarget,
  loadChannels,
  savePush,
  verifySubscription,
} from '../channels/index.ts';
import type { Queryable } from '../db/index.ts';
import { nothingFound, submitFound } from '../fetch/index.ts';
import { ingest } from '../ingest/index.ts';
import { loadSources, type Source } from '../sources/index.ts';
import type { Clock, Metrics } from '../telemetry/index.ts';
import { RateLimit } from './rate-limit.ts';
import { isSigned } from './signature.ts';

export type CallbackDeps = {
  db: Queryable;
  metrics: Metrics;
  clock: Clock;
  usualLeaseSeconds: number;
};

/** An answer to a hub. */
export type CallbackAnswer = { status: number; body: string; retryAfterSeconds?: number };

const tokenPattern = /^[0-9a-f]{32}$/;
const mostChallenge = 4096;
const mostTopic = 2048;
const mostFriends = 100_000;

// A busy publisher pushes a few times a minute; a hub that starts again may send some at once.
const perCallback = { perSecond: 1, burst: 60 };
// Somebody who guesses tokens costs one look at an index each.
const perStranger = { perSecond: 20, burst: 100 };

const answer = (status: number, body = ''): CallbackAnswer => ({ status, body });

/** What hubs meet at our callback address. Nothing else than the 128 bits of its path tells who may call. */
export class Callback {
  readonly #deps: CallbackDeps;
  readonly #known: RateLimit;
  readonly #strangers: RateLimit;
  /** Callbacks that were found: whoever guesses others must not shut these out. */
  readonly #friends = new Set<string>();

  constructor(deps: CallbackDeps) {
    this.#deps = deps;
    this.#known = new RateLimit(perCallback, () => deps.clock.monotonic());
    this.#strangers = new RateLimit(perStranger, () => deps.clock.monotonic());
  }

  /** A hub verifies our wish or denies it (WebSub sections 5.2 and 5.3). */
  async verify(token: string, query: Readonly<Record<string, unknown>>): Promise<CallbackAnswer> {
    const text = (name: string): string | null =>
      typeof query[`hub.${name}`] === 'string' ? (query[`hub.${name}`] as string) : null;
    const mode = text('mode');
    const topic = text('topic') ?? '';
    const challenge = text('challenge') ?? '';
    // No topic of ours has a NUL, and none can be looked up by one.
    if (!tokenPattern.test(token) || topic === '' || topic.length > mostTopic || topic.includes('\u0000'))
      return answer(404);
    if (mode !== 'subscribe' && mode !== 'unsubscribe' && mode !== 'denied') return answer(404);
    if (mode !== 'denied' && (challenge === '' || challenge.length > mostChallenge)) return answer(400);
    const limited = this.#limit(token);
    if (limited !== null) return limited;
    const lease = Number(text('lease_seconds') ?? '');
    const isOurs = await verifySubscription(
      this.#deps.db,
      {
        token,
        mode,
        topic,
        leaseSeconds: Number.isFinite(lease) && lease > 0 ? Math.floor(lease) : null,
        reason: text('reason'),
      },
      this.#deps.usualLeaseSeconds,
    );
    if (isOurs) this.#befriend(token);
    return isOurs ? answer(200, mode === 'denied' ? '' : challenge) : answer(404);
  }

  /**
   * News from a hub. They are in the frontier before it is told so; a body that the hub has not signed is dropped and
   * answered all the same, so that nobody learns anything by trying (WebSub section 8).
   */
  async push(
    token: string,
    message: { body: Buffer; contentType: string | undefined; signature: string | undefined },
  ): Promise<CallbackAnswer> {
    if (!tokenPattern.test(token)) return this.#count('unknown', answer(404));
    const limited = this.#limit(token);
    if (limited !== null) return this.#count('limited', limited);
    const { db } = this.#deps;
    const target = await findPushTarget(db, token);
    if (target === null) return this.#count('unknown', answer(404));
    this.#befriend(token);
    // Gone: the hub may stop by itself (WebSub section 7).
    if (target.hash === null || target.state === 'ending') return this.#count('unwanted', answer(410));
    if (!isSigned(message.signature, message.body, target.secret)) {
      await countDropped(db, target.id, 'unsigned');
      return this.#count('unsigned', answer(202));
    }
    const [channel] = await loadChannels(db, [target.hash]);
    const [source] = channel === undefined ? [] : await loadSources(db, [channel.sourceId]);
    if (channel === undefined || source === undefined) return this.#count('unwanted', answer(410));
    const read = await readPush(message, channel, source, this.#deps.clock.now());
    if (read === null) {
      await countDropped(db, target.id, 'unreadable');
      return this.#count('unreadable', answer(202));
    }
    for (const [reason, items] of Object.entries(read.refused))
      this.#deps.metrics.refusedLinks.inc({ reason }, items);
    const totals = nothingFound();
    await submitFound(this.#deps, read.found, totals, channel.lastSuccessAt?.getTime() ?? null);
    await savePush(db, target.id, {
      items: read.found.length,
      lastItemAt: read.lastItemAt,
      delays: totals.delays,
    });
    return this.#count('taken', answer(202));
  }

  #limit(token: string): CallbackAnswer | null {
    const limit = this.#friends.has(token) ? this.#known.take(token) : this.#strangers.take('all');
    return limit ? null : { status: 429, body: '', retryAfterSeconds: 10 };
  }

  #befriend(token: string): void {
    if (this.#friends.size >= mostFriends) this.#friends.clear();
    this.#friends.add(token);
  }

  #count(outcome: string, result: CallbackAnswer): CallbackAnswer {
    this.#deps.metrics.websubPushes.inc({ outcome });
    return result;
  }
}

/** Reads a pushed body as a poll would have: the same reader, the same identities, only the origin says how it came. */
async function readPush(
  message: { body: Buffer; contentType: string | undefined },
  channel: Channel,
  source: Source,
  nowMs: number,
) {
  const { hash, url, sourceId } = channel;
  const read = await ingest(
    {
      row: { hash, url, sourceId, kind: 'channel', origin: 'manual', depth: 0 },
      finalUrl: url,
      finalHash: hash,
      status: 200,
      headers: message.contentType === undefined ? {} : { 'content-type': message.contentType },
      body: message.body,
      wireBody: null,
      contentEncoding: null,
    },
    { source, channel, minWords: 0, minBodyBytes: 0, keepHtml: 'none', sitemapMaxAgeMs: 0, nowMs },
  );
  if (read.outcome !== 'channel' || read.reading.error !== null) return null;
  return {
    found: read.found.map((item) => ({ ...item, origin: 'push' as const })),
    lastItemAt: read.reading.lastItemAt,
    refused: read.reading.refused,
  };
}
