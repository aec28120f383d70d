import type { Queryable } from '../db/index.ts';
import {
  claimDeliveries,
  claimResponses,
  type Delivery,
  type DeliveryEnd,
  type ResponseDelivery,
  type SinkLease,
  saveEnds,
  saveResponses,
} from '../outbox/index.ts';
import type { BatchEnd, ResponseSink, Sink } from './sink.ts';

/** What a deliverer has to know of an item: the rest is between the outbox and the sink. */
export type QueuedItem = { enqueuedAt: Date; attempts: number };

/** Items of one sink that are about to be delivered. */
export type QueuedBatch = {
  items: readonly QueuedItem[];
  deliver(signal: AbortSignal): Promise<BatchEnd>;
  /** Writes down what became of the items, null where nothing did; false where the lease was lost. */
  save(lease: SinkLease, ends: readonly (DeliveryEnd | null)[], position: object | null): Promise<boolean>;
};

/** What waits for a sink. */
export type Queue = {
  /** The next batch; rows stay where they are until saved. null: nothing waits. */
  claim(db: Queryable): Promise<QueuedBatch | null>;
};

/** The part of the outbox that is meant for a sink. */
export const queueOf = (sink: Sink | ResponseSink): Queue =>
  sink.takes === 'responses' ? responseQueue(sink) : documentQueue(sink);

// The last bucket is not done yet when it filled the batch; the next one begins with it.
const bucketOf = (domainKey: bigint): number => Number(BigInt.asUintN(8, domainKey));

function documentQueue(sink: Sink): Queue {
  let fromBucket = 0;
  let isStuck = false;
  const { items: most, bytes: mostBytes, withRaw } = sink.batch;
  return {
    claim: async (db) => {
      // A batch of which nothing came to an end fills every claim of its bucket, while others might be taken.
      if (isStuck) fromBucket += 1;
      const items = await claimDeliveries(db, { sink: sink.name, most, mostBytes, withRaw, fromBucket });
      if (items.length === 0) return null;
      fromBucket = bucketOf(items.at(-1)!.document.domainKey);
      isStuck = true;
      return {
        items,
        deliver: (signal) => sink.deliver(items, signal),
        save: (lease, ends, position) => {
          isStuck = ends.every((end) => end === null);
          return saveEnds(
            db,
            lease,
            items.flatMap((item, index) => endedDocument(item, ends[index] ?? null)),
            position,
          );
        },
      };
    },
  };
}

function endedDocument({ document }: Delivery, end: DeliveryEnd | null) {
  const { domainKey, hash, version } = document;
  return end === null ? [] : [{ domainKey, hash, version, ...end }];
}

function responseQueue(sink: ResponseSink): Queue {
  let fromBucket = 0;
  const { items: most, bytes: mostBytes } = sink.batch;
  return {
    claim: async (db) => {
      const responses = await claimResponses(db, { sink: sink.name, most, mostBytes, fromBucket });
      if (responses.length === 0) return null;
      fromBucket = bucketOf(responses.at(-1)!.domainKey);
      return {
        items: responses.map(({ enqueuedAt }: ResponseDelivery) => ({ enqueuedAt, attempts: 0 })),
        deliver: (signal) => sink.deliver(responses, signal),
        save: (lease, ends, position) =>
          saveResponses(
            db,
            lease,
            responses.filter((_, index) => ends[index]?.end === 'delivered'),
            position,
          ),
      };
    },
  };
}
