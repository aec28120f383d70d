import { readdirSync, readFileSync } from 'node:fs';

// USER_HZ: what /proc counts CPU time in, whatever the kernel's own tick is (proc(5)).
const tickMs = 10;

type Stat = { parent: number; ownMs: number; reapedMs: number };

// The command may hold spaces and brackets; everything after the last bracket is numbers.
function readStat(pid: number): Stat | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== 'ENOENT' && code !== 'ESRCH') throw error;
    return null;
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = (index: number): number => Number(fields[index]) * tickMs;
  return {
    parent: Number(fields[1]),
    ownMs: ticks(11) + ticks(12),
    reapedMs: ticks(13) + ticks(14),
  };
}

/** CPU time a process has used so far, all its threads, those that ended too. */
export function readCpuMs(pid: number): number {
  const stat = readStat(pid);
  if (stat === null) throw new Error(`process ${pid} is gone`);
  return stat.ownMs;
}

/** CPU time of a database server: the postmaster, its living processes, and those that ended, which are in its own count. */
export function readServerCpuMs(postmaster: number): number {
  for (;;) {
    const before = readStat(postmaster);
    if (before === null) throw new Error(`server ${postmaster} is gone`);
    let livingMs = 0;
    for (const name of readdirSync('/proc')) {
      const stat = /^\d+$/.test(name) ? readStat(Number(name)) : null;
      if (stat?.parent === postmaster) livingMs += stat.ownMs;
    }
    const after = readStat(postmaster);
    // A process that ended in between would be counted twice, or not at all.
    if (after?.reapedMs === before.reapedMs) return before.ownMs + before.reapedMs + livingMs;
  }
}

/** The parent of a process. */
export function readParent(pid: number): number {
  const stat = readStat(pid);
  if (stat === null) throw new Error(`process ${pid} is gone`);
  return stat.parent;
}

/** Children of a process with what they were started with, the eldest first. */
export function childrenOf(parent: number): { pid: number; args: string[] }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && readStat(Number(name))?.parent === parent)
    .map((name) => ({
      pid: Number(name),
      args: readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0'),
    }))
    .sort((a, b) => a.pid - b.pid);
}

/** Resident memory of a process, now and at its highest. */
export function readRssMb(pid: number): { nowMb: number; peakMb: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
  return { nowMb: field('VmRSS') / 1024, peakMb: field('VmHWM') / 1024 };
}
