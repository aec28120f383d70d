import { expect, test } from 'vitest';
import type { ServiceAnswer } from '../http.ts';
import type { ItemEnd } from '../sink.ts';
import { BulkSender } from './bulk-sender.ts';

const documents = Array.from({ length: 20 }, (_, n) => ({ id: `d${n}`, attempts: 0 }));
const idsIn = (body: Buffer): string[] =>
  [...body.toString().matchAll(/"_id":"([^"]+)"/g)].map((match) => match[1]!);
const timesUp: ServiceAnswer = { outcome: 'failed', reason: 'no answer within 40000 ms', broke: false };
const silence: ServiceAnswer = { outcome: 'failed', reason: 'no answer within 30000 ms', broke: true };

/** A server that falls silent over a document, which takes all the time that a batch has but for one more request. */
function serverSilentOver(bad: string) {
  const sizes: number[] = [];
  let isLast = false;
  const sender = new BulkSender(async (body) => {
    if (isLast) return timesUp;
    const ids = idsIn(body);
    sizes.push(ids.length);
    if (ids.includes(bad)) {
      isLast = ids.length > 1;
      return silence;
    }
    const items = ids.map(() => ({ update: { status: 200 } }));
    return { outcome: 'answered', status: 200, text: JSON.stringify({ items }), retryAfterMs: null };
  });
  return { sender, sizes, nextBatch: () => (isLast = false) };
}

test('of a server that falls silent over one document the next batches ask for less, until it stands alone', async () => {
  const { sender, sizes, nextBatch } = serverSilentOver('d7');
  let left = documents;
  for (let batch = 0; batch < 40 && left.length > 1; batch += 1) {
    nextBatch();
    const ends: ItemEnd[] = left.map(() => ({ end: 'waiting' }));
    const queued = left.map(({ id, attempts }, at) => ({
      at,
      item: { index: 'a', id, record: {} },
      isBlamed: attempts > 0,
    }));
    await sender.send(queued, ends, new AbortController().signal);
    left = left.filter((_, at) => ends[at]!.end !== 'delivered');
  }
  expect(left.map(({ id }) => id)).toEqual(['d7']);
  // Halved each time it fell silent, and more again with each request that went well.
  expect(sizes.slice(0, 2)).toEqual([20, 10]);
  expect(sizes.length).toBeLessThan(40);
});
