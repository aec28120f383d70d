import { isDoubtful, isTaken } from './doubts.ts';
import type { BatchEnd, ItemEnd, Outage } from './sink.ts';

/** Delivers items by themselves, some at once, until the sink as a whole takes nothing or `goesOn` says to stop. */
export async function deliverEach<Item extends { attempts: number }>(
  batch: readonly Item[],
  options: {
    atOnce: number;
    send: (item: Item) => Promise<ItemEnd | Outage>;
    goesOn?: (ends: readonly ItemEnd[]) => boolean;
  },
): Promise<BatchEnd> {
  const ends: ItemEnd[] = batch.map(() => ({ end: 'waiting' }));
  let outage: Outage | undefined;
  // Who failed before comes last: while the sink is away, it is not those alone who find that out.
  const isFresh = (at: number): boolean => batch[at]!.attempts === 0;
  const places = [...batch.keys()];
  const left = [...places.filter(isFresh), ...places.filter((at) => !isFresh(at))];
  const takeNext = (): number => {
    // Documents of one publisher stand together and may all be of the kind that is refused: who is asked, while nothing
    // was taken yet, must not be the same ones each time.
    const isInDoubt = ends.some(isDoubtful) && !ends.some(isTaken);
    const fresh = isInDoubt ? left.filter(isFresh).length : 0;
    return left.splice(Math.floor(Math.random() * fresh), 1)[0]!;
  };
  const work = async (): Promise<void> => {
    while (left.length > 0 && outage === undefined && (options.goesOn?.(ends) ?? true)) {
      const at = takeNext();
      const end = await options.send(batch[at]!);
      if ('end' in end) ends[at] = end;
      else outage ??= end;
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, work));
  return outage === undefined ? { ends } : { ends, outage };
}
