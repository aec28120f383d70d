import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** Where a statically known name leads; a port replaces the URL's for the connection only (curl's --connect-to). */
export type HostsEntry = { address: string; port?: number };

/** Statically known names, asked before DNS. */
export type HostsTable = ReadonlyMap<string, HostsEntry>;

function parseEndpoint(text: string): HostsEntry | null {
  const bracketed = /^\[([^\]]{2,45})\](?::(\d{1,5}))?$/.exec(text);
  const plain = /^([0-9.]{7,15})(?::(\d{1,5}))?$/.exec(text);
  const address = bracketed?.[1] ?? plain?.[1] ?? text;
  const portText = bracketed?.[2] ?? plain?.[2];
  if (isIP(address) === 0) return null;
  if (portText === undefined) return { address };
  const port = Number(portText);
  return port > 0 && port < 65_536 ? { address, port } : null;
}

/** The form names are compared in: lower case, punycode, no trailing dot. */
export function hostKey(name: string): string {
  const bare = name.endsWith('.') ? name.slice(0, -1) : name;
  // URL hosts arrive lower-case and in punycode already; only hand-written names need the work.
  return /^[a-z0-9.:_-]*$/.test(bare) ? bare : domainToASCII(bare) || bare.toLowerCase();
}

/**
 * Reads lines `ADDRESS[:PORT] name name…` with `#` comments, as in hosts(5); the first line that names a host wins.
 * A line that cannot be read is passed to `onBadLine` and skipped: the system's own file holds odd lines too.
 */
export function parseHostsFile(text: string, onBadLine?: (line: number, text: string) => void): HostsTable {
  const table = new Map<string, HostsEntry>();
  let number = 0;
  for (const line of text.split('\n')) {
    number += 1;
    const content = line.split('#', 1)[0]?.trim() ?? '';
    if (content === '') continue;
    const [endpoint = '', ...names] = content.split(/\s+/);
    const entry = parseEndpoint(endpoint);
    if (entry === null || names.length === 0) {
      onBadLine?.(number, content);
      continue;
    }
    for (const name of names) {
      const key = hostKey(name);
      if (!table.has(key)) table.set(key, entry);
    }
  }
  return table;
}
