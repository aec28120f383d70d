import type { BatchEnd, ItemEnd } from './sink.ts';

/** Failures that may be about the document or about the whole sink, with nothing taken, after which it is not asked on. */
const mostDoubts = 5;

const isTaken = ({ end }: ItemEnd): boolean => end === 'delivered' || end === 'rejected';
const isDoubtful = ({ end }: ItemEnd): boolean => end === 'retry';

/** Whether the rest of a batch is still worth asking for. */
export const goesOn = (ends: readonly ItemEnd[]): boolean =>
  ends.some(isTaken) || ends.filter(isDoubtful).length < mostDoubts;

/**
 * A failure while others are taken is about the document; otherwise it is about the whole sink, unless all that met it
 * have failed beside others before: nobody else may come for hours, and they would hold up who does.
 */
export function judge(batch: readonly { attempts: number }[], end: BatchEnd): BatchEnd {
  const { ends, outage } = end;
  const doubt = ends.find((one) => one.end === 'retry');
  if (doubt === undefined || ends.some(isTaken)) return end;
  if (ends.every((one, index) => !isDoubtful(one) || batch[index]!.attempts > 0)) return end;
  return {
    ends: ends.map((one) => (isDoubtful(one) ? { end: 'waiting' } : one)),
    outage: outage ?? { reason: doubt.reason },
  };
}
