import {
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose';
import { messageOf } from '../errors/index.ts';
import { highestRole, type Identity, type Role } from './roles.ts';

/** How bearer JWTs are read. */
export type JwtOptions = {
  secret: string | null;
  jwksUrl: string | null;
  issuer: string | null;
  audience: string | null;
  /** What a token without a role of ours may do; null: nothing. */
  defaultRole: Role | null;
  /** Wall time in ms. */
  now: () => number;
  /** How long the key set may take; 5 s unless said. */
  jwksTimeoutMs?: number;
};

/** What became of a JWT. */
export type JwtAnswer =
  | { outcome: 'accepted'; identity: Identity; expiresAtMs: number }
  | { outcome: 'refused'; reason: string }
  | { outcome: 'unavailable'; reason: string };

type Keys = ReturnType<typeof createRemoteJWKSet>;

const leewaySeconds = 5;
const usualTimeoutMs = 5000;
// A set of keys has a few kilobytes; the largest public ones some tens.
const jwksBytes = 262_144;
const longestName = 200;

/** Reads bearer JWTs: HS256 by a shared secret, RS256 and ES256 by published keys, and nothing else. */
export class JwtReader {
  readonly #options: JwtOptions;
  readonly #secret: Uint8Array | null;
  readonly #keys: Keys | null;

  constructor(options: JwtOptions) {
    this.#options = options;
    this.#secret = options.secret === null ? null : new TextEncoder().encode(options.secret);
    this.#keys =
      options.jwksUrl === null
        ? null
        : createRemoteJWKSet(new URL(options.jwksUrl), {
            timeoutDuration: options.jwksTimeoutMs ?? usualTimeoutMs,
            [customFetch]: fetchBounded,
          });
  }

  /** Verifies a token; never throws for what is in it. */
  async read(token: string): Promise<JwtAnswer> {
    let alg: string | undefined;
    try {
      alg = decodeProtectedHeader(token).alg;
    } catch {
      // jose throws TypeError for text that is no JWT at all.
      return { outcome: 'refused', reason: 'this is neither a token of ours nor a JWT' };
    }
    try {
      // The key is chosen by us for the algorithm, never by the token: a public key cannot become an HS256 secret.
      const payload = await this.#verify(token, alg);
      if (payload === null)
        return { outcome: 'refused', reason: 'JWTs signed in this way are not accepted here' };
      return this.#identify(payload);
    } catch (error) {
      return decideFailure(error);
    }
  }

  async #verify(token: string, alg: string | undefined): Promise<JWTPayload | null> {
    const { issuer, audience, now } = this.#options;
    const options: JWTVerifyOptions = {
      requiredClaims: ['exp'],
      clockTolerance: leewaySeconds,
      currentDate: new Date(now()),
      ...(issuer === null ? {} : { issuer }),
      ...(audience === null ? {} : { audience }),
    };
    if (alg === 'HS256' && this.#secret !== null)
      return (await jwtVerify(token, this.#secret, { ...options, algorithms: ['HS256'] })).payload;
    if ((alg === 'RS256' || alg === 'ES256') && this.#keys !== null)
      return (await jwtVerify(token, this.#keys, { ...options, algorithms: ['RS256', 'ES256'] })).payload;
    return null;
  }

  #identify(payload: JWTPayload): JwtAnswer {
    const role = roleOfClaims(payload) ?? this.#options.defaultRole;
    if (role === null)
      return { outcome: 'refused', reason: 'the JWT names no role, and auth.jwt_default_role gives none' };
    const name = `jwt:${cleanName(payload.sub)}`;
    return { outcome: 'accepted', identity: { name, role }, expiresAtMs: payload.exp! * 1000 };
  }
}

/** The role a JWT claims: `role`, or else the highest among the words of `scope`; null when neither has one of ours. */
export function roleOfClaims(claims: JWTPayload): Role | null {
  const words = (value: unknown): string[] => (typeof value === 'string' ? value.split(' ') : []);
  return highestRole(words(claims.role)) ?? highestRole(words(claims.scope));
}

/** A subject as the audit can hold it: PostgreSQL takes no NUL, terminals no control characters. */
function cleanName(subject: unknown): string {
  if (typeof subject !== 'string' || subject === '') return 'unnamed';
  return subject
    .slice(0, longestName)
    .toWellFormed()
    .replace(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd');
}

function decideFailure(error: unknown): JwtAnswer {
  if (error instanceof errors.JWTExpired) return { outcome: 'refused', reason: 'the JWT has expired' };
  if (error instanceof errors.JWTClaimValidationFailed)
    return { outcome: 'refused', reason: `the JWT's claim "${error.claim}" is missing or not as it must be` };
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
    return { outcome: 'refused', reason: 'no single published key fits the JWT' };
  // What is left of jose's own: JWKS trouble is generic, invalid or a time-out; the rest is about the token.
  const isOurs =
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    !(error instanceof errors.JOSEError) ||
    error.code === 'ERR_JOSE_GENERIC';
  return isOurs
    ? { outcome: 'unavailable', reason: messageOf(error) }
    : { outcome: 'refused', reason: 'the JWT does not verify' };
}

/** Fetches at most so many bytes: the time is bounded by the signal, which also covers the body. */
async function fetchBounded(
  url: string,
  options: { headers: Headers; method: string; redirect: 'manual'; signal: AbortSignal },
): Promise<Response> {
  const response = await fetch(url, options);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    // Leaving the loop cancels the rest.
    if (size > jwksBytes) throw new Error(`the key set is larger than ${jwksBytes} bytes`);
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status: response.status });
}
