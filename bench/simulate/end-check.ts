import { firstKnownAt, firstParkedAt, rowFlag, rowState, type Tables, width } from './frontier/index.ts';

/**
 * Looks whether every URL that waits would be found by somebody: ready ones by a lease, parked ones by promotion, known
 * ones by a refresh. Empties the model, so it comes last. Answers what is lost, in words.
 */
export function findLost(tables: Tables): string[] {
  const { rows, slots, settings } = tables;
  const found = new Uint8Array(rows.count);
  const lost: string[] = [];
  for (let domain = 0; domain < slots.count; domain += 1) {
    let ready = 0;
    for (const heap of [slots.free, slots.paid])
      while (!heap.isEmpty(domain)) {
        const row = heap.id(domain);
        if (rows.has(row, rowFlag.ready) && !rows.has(row, rowFlag.inFlight) && found[row] === 0) {
          found[row] = 1;
          ready += 1;
        }
        heap.drop(domain);
      }
    if (slots.leased[domain * width] === 0 && ready !== slots.queued[domain * width])
      lost.push(`domain ${domain} says ${slots.queued[domain * width]} rows are ready, and ${ready} are`);
    const isOffered =
      slots.top[domain * width]! > 0 || ready === 0 || !Number.isNaN(slots.wakeAt[domain * width]!);
    if (slots.leased[domain * width] === 0 && !isOffered)
      lost.push(`domain ${domain} has ${ready} rows that nobody is told of`);
    const parkedMs = firstParkedAt(tables, domain);
    const waits = parkedMs !== Number.POSITIVE_INFINITY && !(slots.wakeAt[domain * width]! <= parkedMs);
    if (waits) lost.push(`domain ${domain} has a row due that nothing wakes it for`);
    for (const [heap, first] of [
      [slots.parked, firstParkedAt],
      [slots.known, firstKnownAt],
    ] as const)
      while (first(tables, domain) !== Number.POSITIVE_INFINITY) {
        found[heap.id(domain)] = 1;
        heap.drop(domain);
      }
  }
  for (let row = 0; row < rows.count; row += 1) {
    if (found[row] === 1 || rows.has(row, rowFlag.inFlight) || rows.state[row] === rowState.dead) continue;
    // Without refreshes a page that is done is done.
    if (rows.state[row] === rowState.fetched && !settings.refresh) continue;
    lost.push(`row ${row} waits where nobody looks`);
  }
  return lost;
}
