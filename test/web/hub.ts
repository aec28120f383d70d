import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Name of the hub in its web. */
export const hubHost = 'hub.test';

/** How a hub (mis)behaves; everything is as it should be unless said. */
export interface HubBehaviour {
  /** Answers wishes with this status instead of 202. */
  status?: number;
  /** Tells subscribers that it does not want them. */
  denies?: boolean;
  /** What it says with a denial or a bad status; plain words unless told. */
  says?: string;
  /** Verifies with a topic nobody asked for. */
  wrongTopic?: boolean;
  /** Never verifies. */
  silent?: boolean;
  leaseSeconds?: number;
  algorithm?: 'sha1' | 'sha256' | 'sha384' | 'sha512';
  signature?: 'good' | 'bad' | 'none';
  /** Holds every push back. */
  delayMs?: number;
  /** Sends every push so often. */
  repeats?: number;
  /** Sends this instead of the feed. */
  body?: string;
}

/** A subscriber as the hub knows it. */
export interface HubSubscriber {
  topic: string;
  callback: string;
  secret: string;
  leaseSeconds: number;
  untilMs: number;
}

/** What happened at the hub, oldest first. */
export interface HubEvent {
  what: 'wish' | 'verified' | 'unverified' | 'denied' | 'pushed' | 'failed';
  mode: string;
  topic: string;
  callback: string;
  /** What the subscriber answered. */
  status: number | null;
  atMs: number;
}

/** A hub of WebSub: takes wishes, verifies them, and distributes what publishers announce. */
export interface Hub {
  readonly url: string;
  readonly events: readonly HubEvent[];
  behave(behaviour: HubBehaviour): void;
  subscribers(): HubSubscriber[];
  /** Fetches a topic and sends it to its subscribers; answers how many took it. */
  publish(topic: string): Promise<number>;
  /** Sends any request of a hub's, for what no hub should do. */
  send(callback: string, options: { body: string; headers?: Record<string, string> }): Promise<number>;
  handle(request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
}

const requestMs = 10_000;
const usualLeaseSeconds = 864_000;
const mostWishBytes = 20_000;

/** Makes a hub; `fetchTopic` gets what it distributes. */
export function createHub(fetchTopic: (topic: string) => Promise<{ type: string; body: Buffer }>): Hub {
  const subscriptions = new Map<string, HubSubscriber>();
  const events: HubEvent[] = [];
  const busy = new Set<Promise<unknown>>();
  const stop = new AbortController();
  let behaviour: HubBehaviour = {};

  const note = (
    what: HubEvent['what'],
    mode: string,
    one: { topic: string; callback: string },
    status: number | null,
  ) => void events.push({ what, mode, topic: one.topic, callback: one.callback, status, atMs: Date.now() });
  const track = <T>(work: Promise<T>): Promise<T> => {
    busy.add(work);
    work.finally(() => busy.delete(work)).catch(() => undefined);
    return work;
  };
  const call = (url: string, init: RequestInit) =>
    fetch(url, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.any([stop.signal, AbortSignal.timeout(requestMs)]),
    });

  async function verify(mode: string, wish: HubSubscriber): Promise<void> {
    const asked = new URL(wish.callback);
    const challenge = randomBytes(16).toString('hex');
    const { denies, wrongTopic } = behaviour;
    asked.searchParams.set('hub.mode', denies ? 'denied' : mode);
    asked.searchParams.set('hub.topic', wrongTopic ? `${wish.topic}#other` : wish.topic);
    if (denies) asked.searchParams.set('hub.reason', behaviour.says ?? 'not for you');
    else asked.searchParams.set('hub.challenge', challenge);
    if (mode === 'subscribe') asked.searchParams.set('hub.lease_seconds', String(wish.leaseSeconds));
    const response = await call(asked.href, {});
    const isConfirmed = response.status === 200 && (await response.text()) === challenge;
    if (denies) note('denied', mode, wish, response.status);
    else note(isConfirmed ? 'verified' : 'unverified', mode, wish, response.status);
    if (!isConfirmed || denies) return;
    const key = `${wish.topic} ${wish.callback}`;
    if (mode === 'subscribe') subscriptions.set(key, wish);
    else subscriptions.delete(key);
  }

  async function distribute(one: HubSubscriber, feed: { type: string; body: Buffer }): Promise<boolean> {
    const { algorithm = 'sha256', signature = 'good', delayMs = 0, repeats = 1 } = behaviour;
    const body = behaviour.body === undefined ? feed.body : Buffer.from(behaviour.body);
    const secret = signature === 'bad' ? 'guessed' : one.secret;
    const headers: Record<string, string> = {
      'content-type': feed.type,
      link: `<${hub.url}>; rel="hub", <${one.topic}>; rel="self"`,
    };
    if (signature !== 'none')
      headers['x-hub-signature'] = `${algorithm}=${createHmac(algorithm, secret).update(body).digest('hex')}`;
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    let taken = false;
    for (let n = 0; n < repeats; n += 1) {
      const response = await call(one.callback, { method: 'POST', body: new Uint8Array(body), headers });
      taken = response.status >= 200 && response.status < 300;
      note('pushed', 'publish', one, response.status);
      // As section 7 of WebSub allows: whoever says "gone" is not asked again.
      if (response.status === 410) subscriptions.delete(`${one.topic} ${one.callback}`);
    }
    return taken;
  }

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes <= mostWishBytes) chunks.push(chunk);
    }
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const mode = form.get('hub.mode') ?? '';
    const wish: HubSubscriber = {
      topic: form.get('hub.topic') ?? form.get('hub.url') ?? '',
      callback: form.get('hub.callback') ?? '',
      secret: form.get('hub.secret') ?? '',
      leaseSeconds: behaviour.leaseSeconds ?? Number(form.get('hub.lease_seconds') ?? usualLeaseSeconds),
      untilMs: 0,
    };
    wish.untilMs = Date.now() + wish.leaseSeconds * 1000;
    const isWish = (mode === 'subscribe' || mode === 'unsubscribe') && URL.canParse(wish.callback);
    const status =
      behaviour.status ?? (request.method !== 'POST' || (!isWish && mode !== 'publish') ? 400 : 202);
    note('wish', mode, wish, status);
    const said = behaviour.says ?? `no: ${status}\n`;
    response.writeHead(status, { 'content-type': 'text/plain' }).end(status === 202 ? '' : said);
    if (status !== 202 || behaviour.silent) return;
    if (mode === 'publish') await hub.publish(wish.topic);
    else await verify(mode, wish);
  }

  const hub: Hub = {
    url: `http://${hubHost}/`,
    events,
    behave: (wanted) => {
      behaviour = wanted;
    },
    subscribers: () => [...subscriptions.values()].filter((one) => one.untilMs > Date.now()),
    publish: (topic) =>
      track(
        (async () => {
          const listening = hub.subscribers().filter((one) => one.topic === topic);
          if (listening.length === 0) return 0;
          const feed = await fetchTopic(topic);
          const taken = await Promise.all(
            listening.map((one) =>
              distribute(one, feed).catch((error: unknown) => {
                note('failed', error instanceof Error ? error.message : 'publish', one, null);
                return false;
              }),
            ),
          );
          return taken.filter(Boolean).length;
        })(),
      ),
    send: async (callback, { body, headers = {} }) =>
      (await call(callback, { method: 'POST', body, headers })).status,
    handle: (request, response) => {
      track(take(request, response)).catch((error: unknown) => {
        note('failed', error instanceof Error ? error.message : 'wish', { topic: '', callback: '' }, null);
        if (!response.writableEnded) response.destroy();
      });
    },
    close: async () => {
      stop.abort();
      await Promise.allSettled(busy);
    },
  };
  return hub;
}
