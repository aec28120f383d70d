import { documentRecord } from '../../documents/index.ts';
import type { Delivery } from '../../outbox/index.ts';
import { goesOn, judge } from '../doubts.ts';
import { deliverEach } from '../each.ts';
import { excerptOf, isForNow, type ServiceAnswer, ServiceClient } from '../http.ts';
import type { BatchEnd, ItemEnd, Outage, Sink } from '../sink.ts';
import { secretBytes, signMessage } from './sign.ts';

export type WebhookOptions = {
  name: string;
  url: string;
  secret: string;
  userAgent: string;
  concurrency: number;
};

// A receiver that answers so has not looked at the document: every other would be answered so.
const notAboutTheDocument = new Set([401, 403, 404, 405, 408, 410, 421, 429]);

/** Tells a receiver of each document version by a signed POST. */
export function createWebhookSink(options: WebhookOptions): Sink {
  const key = secretBytes(options.secret);
  const connect = (): ServiceClient =>
    new ServiceClient({ connections: options.concurrency, mostAnswerBytes: 65_536, isStatusEnough: true });
  let client: ServiceClient | null = null;

  async function post({ document, claimedAt }: Delivery, signal: AbortSignal): Promise<ServiceAnswer> {
    client ??= connect();
    const record = documentRecord(document);
    const body = JSON.stringify({ type: 'document', timestamp: document.crawledAt, data: record });
    const id = `${record.id}.${record.version}`;
    // Receivers refuse what is minutes off: the database's time, at most as old as a batch may take, never this machine's.
    const atSeconds = Math.floor(claimedAt.getTime() / 1000);
    return client.send({
      method: 'POST',
      url: options.url,
      headers: {
        'content-type': 'application/json',
        'user-agent': options.userAgent,
        'idempotency-key': id,
        ...signMessage(key, { id, atSeconds, body }),
      },
      body,
      signal,
    });
  }

  const deliver = async (batch: readonly Delivery[], signal: AbortSignal): Promise<BatchEnd> =>
    judge(
      batch,
      await deliverEach(batch, {
        atOnce: options.concurrency,
        send: async (one) => endOf(await post(one, signal)),
        goesOn,
      }),
    );

  return {
    name: options.name,
    kind: 'webhook',
    batch: { items: 100, bytes: 8 * 1024 * 1024, withRaw: false },
    open: async () => null,
    deliver,
    close: async () => {
      const open = client;
      client = null;
      await open?.close();
    },
  };
}

function endOf(answer: ServiceAnswer): ItemEnd | Outage {
  // Whoever hangs up, or says nothing, may do so over this document alone.
  if (answer.outcome === 'failed')
    return answer.broke ? { end: 'retry', reason: answer.reason } : { reason: answer.reason };
  const { status, text, retryAfterMs } = answer;
  if (status >= 200 && status < 300) return { end: 'delivered' };
  const reason = `the receiver answered ${status}${excerptOf(text)}`;
  if (status < 400 || notAboutTheDocument.has(status))
    return { reason, ...(retryAfterMs === null ? {} : { retryAfterMs }) };
  return { end: isForNow(status) ? 'retry' : 'rejected', reason };
}
