import { createHmac, timingSafeEqual } from 'node:crypto';

// The four of WebSub section 8. We ask for nothing, the hub chooses, and the largest ones still sign with SHA-1: as a
// MAC under a secret it is sound, whatever is said of it as a hash.
const digests = new Set(['sha1', 'sha256', 'sha384', 'sha512']);

/** Whether `X-Hub-Signature` says that the body comes from someone who knows the secret; never throws. */
export function isSigned(header: string | undefined, body: Uint8Array, secret: string): boolean {
  const match = /^\s*(sha\d{1,3})=([0-9a-f]{40,128})\s*$/i.exec(header ?? '');
  const name = match?.[1]?.toLowerCase() ?? '';
  if (match === null || !digests.has(name)) return false;
  const expected = createHmac(name, secret).update(body).digest();
  const given = Buffer.from(match[2]!, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
