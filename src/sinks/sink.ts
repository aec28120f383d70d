import type { Delivery, ResponseDelivery } from '../outbox/index.ts';

/** What a sink made of one item. */
export type ItemEnd =
  | { end: 'delivered' }
  /** It will never take this one. */
  | { end: 'rejected'; reason: string }
  /** It did not take this one now. */
  | { end: 'retry'; reason: string }
  /** Its own place takes nothing for now, others do: nobody's fault, and it must not stand before them. */
  | { end: 'later'; reason: string }
  /** It was not asked: the item waits as before. */
  | { end: 'waiting' };

/** The sink as a whole takes nothing, for now. */
export type Outage = { reason: string; retryAfterMs?: number };

/** What became of a batch. */
export type BatchEnd<End extends ItemEnd = ItemEnd> = {
  /** One for each item, in their order. */
  ends: End[];
  /** How far the sink's file is whole now; kept with the ends, in one transaction, and also where nothing ended. */
  position?: object;
  /** Why the rest was not asked. */
  outage?: Outage;
};

type SinkOf<Item, End extends ItemEnd> = {
  readonly name: string;
  readonly kind: string;
  /**
   * Called with each new lease before its first batch, with the position that the last saved batch gave: what lies
   * beyond it was never saved as delivered. Answers why where the sink is not to be had, null where it is.
   */
  open(position: unknown, signal: AbortSignal): Promise<Outage | null>;
  deliver(batch: readonly Item[], signal: AbortSignal): Promise<BatchEnd<End>>;
  /** Called while nothing waits. */
  idle?(): Promise<void>;
  /** Lets go of files and connections; open() may follow. */
  close(): Promise<void>;
};

/**
 * A place that documents are delivered to. A delivery may come twice, after a crash or a lost answer: it carries the
 * same id and version then, and the sink sees to it that nothing is doubled.
 */
export type Sink = SinkOf<Delivery, ItemEnd> & {
  readonly takes?: 'documents';
  readonly batch: {
    readonly items: number;
    /** Of texts and raw pages together. */
    readonly bytes: number;
    readonly withRaw: boolean;
  };
};

/** What a sink of responses made of one: there is nothing in a response that it could refuse. */
export type ResponseEnd = Extract<ItemEnd, { end: 'delivered' | 'waiting' }>;

/** A place that responses are delivered to as they came, every one of them. */
export type ResponseSink = SinkOf<ResponseDelivery, ResponseEnd> & {
  readonly takes: 'responses';
  readonly batch: {
    readonly items: number;
    /** Of heads and bodies together. */
    readonly bytes: number;
  };
};

/** A batch that nobody took. */
export const nobodyTook = (batch: readonly unknown[], outage: Outage): BatchEnd<ResponseEnd> => ({
  ends: batch.map(() => ({ end: 'waiting' })),
  outage,
});
