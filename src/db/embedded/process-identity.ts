import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

// A pid alone names nobody: it is reused within minutes on a busy machine and at once after a reboot. A process is
// its pid and its start time; on Linux also the boot and the pid namespace, since a data directory may be a volume
// that outlives the container which wrote the name.

let linuxWorld: string | undefined;

function startOf(pid: number): string | undefined {
  if (process.platform !== 'linux') {
    try {
      const text = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      return text.trim().replaceAll(/\s+/g, '_') || undefined;
    } catch {
      return undefined; // ps exits with 1 when there is no such process
    }
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command name may hold spaces and brackets: the fields count from the last bracket (proc(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    linuxWorld ??= `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()}.${readlinkSync('/proc/self/ns/pid')}`;
    return `${linuxWorld}.${fields[19]}`;
  } catch {
    return undefined; // gone, or gone while being read
  }
}

/** A name for this process that no other process will ever have, with a nonce so that it can hold several. */
export function ticketOfSelf(): string {
  return `${process.pid}/${startOf(process.pid) ?? 'unknown'}/${randomBytes(8).toString('hex')}`;
}

/** The pid and start of a process, to recognise it later. */
export function ticketOf(pid: number): string {
  return `${pid}/${startOf(pid) ?? 'gone'}/0`;
}

/** Whether the very process that wrote the ticket still runs. */
export function isAlive(ticket: string): boolean {
  const [pid, start] = ticket.split('/');
  return start !== undefined && startOf(Number(pid)) === start;
}

/** The last part of a ticket: unique, and fit for a file name. */
export function nonceOf(ticket: string): string {
  return /\/([0-9a-f]{1,16})$/.exec(ticket)?.[1] ?? 'unknown';
}

/** The command line of a process, empty if it is gone. Readable for everyone, unlike its working directory. */
export function commandOf(pid: number): string {
  try {
    if (process.platform === 'linux')
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return ''; // gone
  }
}

/** All processes whose command line passes the test. */
export function findProcesses(matches: (command: string) => boolean): number[] {
  if (process.platform === 'linux') {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => matches(commandOf(pid)));
  }
  const lines = execFileSync('ps', ['-axo', 'pid=,command='], { encoding: 'utf8', maxBuffer: 16e6 }).split(
    '\n',
  );
  return lines.flatMap((line) => {
    const [, pid, command] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    return command !== undefined && matches(command) ? [Number(pid)] : [];
  });
}
