import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

const MB = 1024 * 1024;
// Below this a role would be replaced while it does what it always does; the system ends what is too much there.
const leastShare = 512 * MB;
const fullShare = 0.8;

/** Memory of a process and what it may have. */
export type Memory = {
  usedBytes: number;
  limitBytes: number;
  heapUsedBytes: number;
  heapLimitBytes: number;
};

/**
 * What one role may use: what is set, or else a share of what there is. Fetchers are most of what is used, so each of
 * them and the others together get one.
 */
export function decideMemoryLimit(options: {
  setMb: number;
  availableBytes: number;
  /** Fetchers that share the memory with this process; 0: it runs alone. */
  fetchers: number;
}): number {
  if (options.setMb > 0) return options.setMb * MB;
  const { availableBytes, fetchers } = options;
  return Math.min(availableBytes, Math.max(leastShare, Math.floor(availableBytes / (fetchers + 1))));
}

/** What the container or unit of this process allows (cgroups of both versions), or the machine has. */
export function availableMemory(): number {
  const machine = totalmem();
  const constrained = process.constrainedMemory();
  return constrained > 0 && constrained < machine ? constrained : machine;
}

/** What this process uses now. */
export function measureMemory(limitBytes: number): Memory {
  const { used_heap_size, heap_size_limit } = getHeapStatistics();
  return {
    usedBytes: process.memoryUsage.rss(),
    limitBytes,
    heapUsedBytes: used_heap_size,
    heapLimitBytes: heap_size_limit,
  };
}

/** Whether it is time to leave in good order: at the limit the system, or V8 at its own, would end it in no order. */
export const isMemoryShort = (memory: Memory): boolean =>
  memory.usedBytes > memory.limitBytes * fullShare ||
  memory.heapUsedBytes > memory.heapLimitBytes * fullShare;

/** Memory in a sentence. */
export function describeMemory({ usedBytes, limitBytes }: Memory): string {
  const share = Math.round((100 * usedBytes) / limitBytes);
  return `It uses ${Math.round(usedBytes / MB)} MB, ${share} % of the ${Math.round(limitBytes / MB)} MB it may.`;
}
