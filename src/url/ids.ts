import { sha256 } from './hash.ts';

/** The public id of a frontier row: 16 hex digits of the domain key, a dash, 64 of the URL hash. */
export function urlId(domainKey: bigint, hash: Uint8Array): string {
  const domain = BigInt.asUintN(64, domainKey).toString(16).padStart(16, '0');
  return `${domain}-${Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('hex')}`;
}

/** Reads an id back; null when it is not one. */
export function parseUrlId(id: string): { domainKey: bigint; bucket: number; hash: Buffer } | null {
  const match = /^([0-9a-f]{16})-([0-9a-f]{64})$/i.exec(id);
  if (match === null) return null;
  const domain = Buffer.from(match[1]!, 'hex');
  return {
    domainKey: domain.readBigInt64BE(0),
    bucket: domain[7] ?? 0,
    hash: Buffer.from(match[2]!, 'hex'),
  };
}

/** Hash of a channel's row: a feed address that is also a page has two rows. */
export function channelHash(fetchUrl: string): Buffer {
  return sha256(`channel:${fetchUrl}`);
}

/**
 * The address of a channel with the other of http and https: nobody publishes two feeds that differ in nothing else. Null
 * where a port says that they are of different servers.
 */
export function channelTwin(fetchUrl: string): string | null {
  if (new URL(fetchUrl).port !== '') return null;
  return fetchUrl.startsWith('https:')
    ? fetchUrl.replace('https:', 'http:')
    : fetchUrl.replace('http:', 'https:');
}

/** Hash of a probe's row: unique per probe, so that probing a page never touches the page's own row. */
export function probeHash(randomId: string, fetchUrl: string): Buffer {
  return sha256(`probe:${randomId}${fetchUrl}`);
}
