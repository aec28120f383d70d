import { createHash, createHmac } from 'node:crypto';

/** A request as it came in: the target raw, header names in lower case. */
export type SignedRequest = {
  method: string;
  target: string;
  headers: Record<string, string>;
  body: Buffer;
};

export type Keys = { accessKeyId: string; secretAccessKey: string; region: string };

/** Why a request is refused, in the store's own words. */
export type Verdict = { ok: true } | { ok: false; status: number; code: string; message: string };

const deny = (code: string, message: string, status = 403): Verdict => ({ ok: false, status, code, message });
const maxSkewMs = 15 * 60_000;

/**
 * Checks a request's signature from what came over the wire alone; shares no code with the client, so that both would
 * have to be wrong in the same way.
 */
export function checkSignature(request: SignedRequest, keys: Keys, nowMs: number): Verdict {
  const { headers } = request;
  const fields =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (fields === null) return deny('AccessDenied', 'the request is not signed');
  const [, credential, signedList, signature] = fields as unknown as [string, string, string, string];
  const [accessKeyId, day, region, service, end] = credential.split('/');
  if (accessKeyId !== keys.accessKeyId) return deny('InvalidAccessKeyId', 'the access key is unknown');
  if (region !== keys.region || service !== 's3' || end !== 'aws4_request')
    return deny('AuthorizationHeaderMalformed', `the region is ${keys.region}`, 400);
  const date = headers['x-amz-date'] ?? '';
  const at = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date);
  if (at === null || !date.startsWith(day!)) return deny('AccessDenied', 'x-amz-date is missing or wrong');
  const [year, month, dayOfMonth, hour, minute, second] = at.slice(1).map(Number) as number[];
  const sentMs = Date.UTC(year!, month! - 1, dayOfMonth, hour, minute, second);
  if (Math.abs(sentMs - nowMs) > maxSkewMs)
    return deny('RequestTimeTooSkewed', 'the clocks differ by more than 15 minutes');
  const signed = signedList.split(';');
  const needed = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))];
  if (needed.some((name) => !signed.includes(name))) return deny('AccessDenied', 'a header was not signed');
  const digest = createHash('sha256').update(request.body).digest('hex');
  if (headers['x-amz-content-sha256'] !== digest)
    return deny('XAmzContentSHA256Mismatch', 'the body is not the one that was signed', 400);
  const expected = signatureOf(request, { ...keys, signed, date, digest });
  return expected === signature ? { ok: true } : deny('SignatureDoesNotMatch', 'the signature is wrong');
}

function signatureOf(
  request: SignedRequest,
  facts: Keys & { signed: string[]; date: string; digest: string },
): string {
  const [path, query = ''] = request.target.split('?', 2) as [string, string?];
  const pairs = query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.includes('=') ? pair.indexOf('=') : pair.length;
      return [
        escapeBytes(unescapeBytes(pair.slice(0, at)), false),
        escapeBytes(unescapeBytes(pair.slice(at + 1)), false),
      ];
    })
    .sort(([a, x], [b, y]) => (a! === b! ? (x! < y! ? -1 : 1) : a! < b! ? -1 : 1));
  let canonical = `${request.method}\n${escapeBytes(unescapeBytes(path), true)}\n`;
  canonical += `${pairs.map(([name, value]) => `${name}=${value}`).join('&')}\n`;
  for (const name of [...facts.signed].sort())
    canonical += `${name}:${(request.headers[name] ?? '').trim().replace(/\s+/g, ' ')}\n`;
  canonical += `\n${facts.signed.join(';')}\n${facts.digest}`;
  const scope = [facts.date.slice(0, 8), facts.region, 's3', 'aws4_request'];
  const hash = createHash('sha256').update(canonical).digest('hex');
  const text = `AWS4-HMAC-SHA256\n${facts.date}\n${scope.join('/')}\n${hash}`;
  const key = scope.reduce<Buffer>(
    (last, part) => createHmac('sha256', last).update(part).digest(),
    Buffer.from(`AWS4${facts.secretAccessKey}`),
  );
  return createHmac('sha256', key).update(text).digest('hex');
}

/** The bytes that percent escapes stand for. */
export function unescapeBytes(text: string): Buffer {
  const bytes: number[] = [];
  const raw = Buffer.from(text);
  for (let i = 0; i < raw.length; i += 1) {
    const pair = raw[i] === 0x25 ? raw.toString('latin1', i + 1, i + 3) : '';
    if (/^[0-9a-f]{2}$/i.test(pair)) {
      bytes.push(Number.parseInt(pair, 16));
      i += 2;
    } else bytes.push(raw[i]!);
  }
  return Buffer.from(bytes);
}

/** Escapes every byte but letters, digits and - . _ ~, and in a path the slash. */
export function escapeBytes(bytes: Buffer, isPath: boolean): string {
  let text = '';
  for (const byte of bytes) {
    const char = String.fromCharCode(byte);
    const isPlain = /[A-Za-z0-9\-._~]/.test(char) || (isPath && char === '/');
    text += isPlain ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return text;
}
