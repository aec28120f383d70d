import type { Config } from '../config/index.ts';
import type { Queryable } from '../db/index.ts';
import type { Clock, Log } from '../telemetry/index.ts';
import { JwtReader } from './jwt.ts';
import type { Identity } from './roles.ts';
import { ensureSessionKey, hashOf } from './secrets.ts';
import { endSession, isSessionLive, readSession, type Session, signSession } from './sessions.ts';
import { takeSignInCode } from './sign-in-codes.ts';
import { type LiveToken, loadLiveToken, tokenMark } from './tokens.ts';

/** What showed who asks. */
export type Proof = {
  identity: Identity;
  by: 'token' | 'jwt' | 'session';
  tokenId: number | null;
  session: Session | null;
  expiresAtMs: number | null;
  /** Whether it still holds: streams ask while they run. */
  isLive: () => Promise<boolean>;
};

/** What became of credentials. */
export type AuthAnswer =
  | { outcome: 'accepted'; proof: Proof }
  | { outcome: 'refused'; reason: string }
  | { outcome: 'unavailable' };

// How long a revoked token may go on working in another process. Below a second each request would ask the database.
const lifeMs = 2000;
const mostRemembered = 2000;

/** A few answers of the database, for two seconds. */
class Remembered<T> {
  readonly #entries = new Map<string, { value: T; until: number }>();
  readonly #monotonic: () => number;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  async get(key: string, load: () => Promise<T>): Promise<T> {
    const now = this.#monotonic();
    const known = this.#entries.get(key);
    if (known !== undefined && now < known.until) return known.value;
    const value = await load();
    // Emptied rather than trimmed: guesses fill it with keys nobody asks for again.
    if (this.#entries.size >= mostRemembered) this.#entries.clear();
    this.#entries.set(key, { value, until: now + lifeMs });
    return value;
  }

  forget(): void {
    this.#entries.clear();
  }
}

/** Tells who asks, by API tokens, JWTs and sessions. */
export class Authenticator {
  readonly #db: Queryable;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #keys: Remembered<Uint8Array>;
  readonly #jwt: JwtReader;
  readonly #sessionMs: number;
  readonly #tokens: Remembered<LiveToken | null>;
  readonly #sessions: Remembered<boolean>;

  constructor(options: { db: Queryable; clock: Clock; log: Log; config: Config }) {
    const { auth } = options.config;
    this.#db = options.db;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#keys = new Remembered(options.clock.monotonic);
    this.#sessionMs = auth.sessionHours * 3_600_000;
    this.#tokens = new Remembered(options.clock.monotonic);
    this.#sessions = new Remembered(options.clock.monotonic);
    this.#jwt = new JwtReader({
      secret: auth.jwtSecret,
      jwksUrl: auth.jwksUrl,
      issuer: auth.jwtIssuer,
      audience: auth.jwtAudience,
      defaultRole: auth.jwtDefaultRole === 'none' ? null : auth.jwtDefaultRole,
      now: () => options.clock.now(),
    });
  }

  /** Checks what came behind `Authorization: Bearer`. */
  async checkBearer(text: string): Promise<AuthAnswer> {
    return text.startsWith(tokenMark) ? this.#checkToken(text) : this.#checkJwt(text);
  }

  async #checkToken(text: string): Promise<AuthAnswer> {
    const key = hashOf(text).toString('base64');
    const load = (): Promise<LiveToken | null> => this.#tokens.get(key, () => loadLiveToken(this.#db, text));
    const token = await load();
    if (token === null || this.#isOver(token.expiresAtMs))
      return { outcome: 'refused', reason: 'the token is unknown, revoked or expired' };
    const { id: tokenId, expiresAtMs } = token;
    return {
      outcome: 'accepted',
      proof: {
        identity: { name: `token:${token.name}`, role: token.role },
        by: 'token',
        tokenId,
        session: null,
        expiresAtMs,
        isLive: async () => !this.#isOver(expiresAtMs) && (await load()) !== null,
      },
    };
  }

  async #checkJwt(text: string): Promise<AuthAnswer> {
    const answer = await this.#jwt.read(text);
    if (answer.outcome === 'unavailable') {
      this.#log.warn({ reason: answer.reason }, 'the keys that JWTs are verified by cannot be had');
      return { outcome: 'unavailable' };
    }
    if (answer.outcome === 'refused') return answer;
    const { identity, expiresAtMs } = answer;
    return {
      outcome: 'accepted',
      proof: {
        identity,
        by: 'jwt',
        tokenId: null,
        session: null,
        expiresAtMs,
        isLive: async () => !this.#isOver(expiresAtMs),
      },
    };
  }

  /** Checks the value of a session's cookie. */
  async checkSession(cookie: string): Promise<AuthAnswer> {
    const session = await this.#liveSession(cookie);
    if (session === null) return { outcome: 'refused', reason: 'the session has ended; sign in again' };
    const { identity, tokenId, expiresAtMs } = session;
    const isLive = async (): Promise<boolean> => (await this.#liveSession(cookie)) !== null;
    return { outcome: 'accepted', proof: { identity, by: 'session', tokenId, session, expiresAtMs, isLive } };
  }

  async #liveSession(cookie: string): Promise<Session | null> {
    const session = await readSession(await this.#key(), cookie, this.#clock.now());
    if (session === null) return null;
    const isLive = await this.#sessions.get(session.id, () => isSessionLive(this.#db, session));
    return isLive ? session : null;
  }

  // Asked of the database again and again: a new key ends all sessions.
  #key(): Promise<Uint8Array> {
    return this.#keys.get('session', () => ensureSessionKey(this.#db));
  }

  /** Exchanges proof for a session, which ends when the proof does, if that is earlier. */
  async startSession(
    proof: Pick<Proof, 'identity' | 'tokenId' | 'expiresAtMs'>,
  ): Promise<{ cookie: string; session: Session }> {
    const nowMs = this.#clock.now();
    return signSession(await this.#key(), {
      identity: proof.identity,
      tokenId: proof.tokenId,
      nowMs,
      expiresAtMs: Math.min(nowMs + this.#sessionMs, proof.expiresAtMs ?? Number.POSITIVE_INFINITY),
    });
  }

  /** Uses a sign-in link's code for a session with all rights; null when the code does not work. */
  async signIn(code: string): Promise<{ cookie: string; session: Session } | null> {
    const name = await takeSignInCode(this.#db, code);
    if (name === null) return null;
    return this.startSession({ identity: { name, role: 'admin' }, tokenId: null, expiresAtMs: null });
  }

  /** Signs a session out, in every process. */
  async signOut(session: Session): Promise<void> {
    await endSession(this.#db, session);
    this.#sessions.forget();
  }

  /** Looks at the database again at once: something was revoked in this process. */
  forget(): void {
    this.#tokens.forget();
    this.#sessions.forget();
    this.#keys.forget();
  }

  #isOver(expiresAtMs: number | null): boolean {
    return expiresAtMs !== null && this.#clock.now() > expiresAtMs + 5000;
  }
}
