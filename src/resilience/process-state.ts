import { readFileSync } from 'node:fs';

/** What the system says of a process that does not answer. */
export type ProcessState = { state: string; memoryMb: number | null; waitsIn: string | null };

const read = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    // Not Linux, not ours to read, or gone meanwhile: then nothing is known.
    return null;
  }
};

/** Looks at a process from outside; null where the system does not tell. */
export function inspectProcess(pid: number): ProcessState | null {
  const status = read(`/proc/${pid}/status`);
  if (status === null) return null;
  const state = /^State:\s+\S+ \((.*)\)$/m.exec(status)?.[1] ?? 'unknown';
  const memoryKb = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  const waitsIn = read(`/proc/${pid}/wchan`);
  return {
    state,
    memoryMb: memoryKb === undefined ? null : Math.round(Number(memoryKb) / 1024),
    waitsIn: waitsIn === null || waitsIn === '' || waitsIn === '0' ? null : waitsIn,
  };
}
