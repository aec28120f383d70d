import type { BatchEnd, ItemEnd, Outage } from './sink.ts';

/** Delivers items by themselves, some at once, until the sink as a whole takes nothing or `goesOn` says to stop. */
export async function deliverEach<Item>(
  batch: readonly Item[],
  options: {
    atOnce: number;
    send: (item: Item) => Promise<ItemEnd | Outage>;
    goesOn?: (ends: readonly ItemEnd[]) => boolean;
  },
): Promise<BatchEnd> {
  const ends: ItemEnd[] = batch.map(() => ({ end: 'waiting' }));
  let outage: Outage | undefined;
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < batch.length && outage === undefined && (options.goesOn?.(ends) ?? true)) {
      const at = next;
      next += 1;
      const end = await options.send(batch[at]!);
      if ('end' in end) ends[at] = end;
      else outage ??= end;
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, work));
  return outage === undefined ? { ends } : { ends, outage };
}
