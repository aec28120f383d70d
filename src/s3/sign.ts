import { createHash, createHmac } from 'node:crypto';

/** Who signs, and for which region. */
export type Signer = {
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** For temporary keys. */
  sessionToken?: string | null;
};

/** A request about to be signed; the path is encoded already, the query is not. */
export type Unsigned = {
  method: string;
  host: string;
  path: string;
  query: readonly (readonly [string, string])[];
  headers: Record<string, string>;
  body: Buffer | null;
};

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();

// encodeURIComponent leaves these five alone, the signature's encoding (RFC 3986, 2.3) does not.
const strict = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** A key as a path: every byte but the unreserved and the slash is escaped, once. Half a surrogate pair becomes U+FFFD. */
export const encodeKey = (key: string): string => wellFormed(key).split('/').map(strict).join('/');

/** A query in the order the signature wants. */
export function encodeQuery(query: Unsigned['query']): string {
  return query
    .map(([name, value]) => `${strict(name)}=${strict(wellFormed(value))}`)
    .sort((a, b) => (a < b ? -1 : 1))
    .join('&');
}

const wellFormed = (text: string): string => Buffer.from(text).toString();

/** ISO time as the signature wants it: 20260131T120000Z. */
const stamp = (at: Date): string => at.toISOString().replace(/[-:]|\.\d{3}/g, '');

/**
 * Signature version 4, with every header signed and the payload hashed: the headers to send, `host` among them. Our
 * own rather than a library's: see docs/decisions/0070-blobs.md.
 */
export function signRequest(request: Unsigned, signer: Signer, at: Date): Record<string, string> {
  const time = stamp(at);
  const scope = `${time.slice(0, 8)}/${signer.region}/s3/aws4_request`;
  const payload = sha256(request.body ?? '');
  const headers: Record<string, string> = {
    ...request.headers,
    host: request.host,
    'x-amz-content-sha256': payload,
    'x-amz-date': time,
    ...(signer.sessionToken ? { 'x-amz-security-token': signer.sessionToken } : {}),
  };
  const names = Object.keys(headers).sort();
  const canonical = [
    request.method,
    request.path,
    encodeQuery(request.query),
    ...names.map((name) => `${name}:${headers[name]!.trim().replace(/ +/g, ' ')}`),
    '',
    names.join(';'),
    payload,
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  let key: Buffer = hmac(`AWS4${signer.secretAccessKey}`, time.slice(0, 8));
  for (const part of [signer.region, 's3', 'aws4_request']) key = hmac(key, part);
  const signature = hmac(key, text).toString('hex');
  headers.authorization = `AWS4-HMAC-SHA256 Credential=${signer.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
  return headers;
}
