import type { BatchEnd, ItemEnd } from './sink.ts';

/** Failures that may be about the document or about the whole sink, with nothing taken, after which it is not asked on. */
const mostDoubts = 5;

/** Whether the sink answered for an item, and for good. */
export const isTaken = ({ end }: ItemEnd): boolean => end === 'delivered' || end === 'rejected';
/** Whether an item failed by what may be its own fault or the sink's. */
export const isDoubtful = ({ end }: ItemEnd): boolean => end === 'retry';

/** Whether the rest of a batch is still worth asking for. */
export const goesOn = (ends: readonly ItemEnd[]): boolean =>
  ends.some(isTaken) || ends.filter(isDoubtful).length < mostDoubts;

/**
 * A failure while others are taken is about the document; otherwise it is about the whole sink, unless all that met it
 * have failed beside others before: nobody else may come for hours, and they would hold up who does. Where a sink can
 * be asked for something else, it has to answer that: while it is away, nobody uses up his tries.
 */
export async function judge(
  batch: readonly { attempts: number }[],
  end: BatchEnd,
  isThere: () => Promise<boolean> = async () => true,
): Promise<BatchEnd> {
  const { ends, outage } = end;
  const doubt = ends.find((one) => one.end === 'retry');
  if (doubt === undefined || ends.some(isTaken)) return end;
  const isKnown = ends.every((one, index) => !isDoubtful(one) || batch[index]!.attempts > 0);
  if (isKnown && (await isThere())) return end;
  return {
    ends: ends.map((one) => (isDoubtful(one) ? { end: 'waiting' } : one)),
    outage: outage ?? { reason: doubt.reason },
  };
}
