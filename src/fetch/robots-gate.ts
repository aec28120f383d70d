import type { Queryable } from '../db/index.ts';
import {
  borrowTurn,
  isRobotsUsable,
  loadRobots,
  loadRobotsOfDomain,
  type RobotsRecord,
  saveRobots,
} from '../domains/index.ts';
import {
  crawlDelayOf,
  decideRobots,
  disallowsEverything,
  MAX_ROBOTS_BYTES,
  parseRobots,
} from '../robots/index.ts';
import { identifyUrl, originOf } from '../url/index.ts';
import type { FailureKind, HttpClient } from './client/index.ts';
import { HttpBodyError, retryAfterOf } from './client/index.ts';
import { ChainCookies } from './cookies.ts';

/** What keeps from a host altogether, and makes a domain unreachable when it lasts. */
export type Unreached = 'dns' | 'connect' | 'tls';

/** May this URL be requested now? */
export type GateAnswer =
  | { answer: 'allowed'; crawlDelayMs: number | null }
  /** `everywhere`: the whole domain is closed to us, by this origin and every other one that is known. */
  | {
      answer: 'blocked';
      line: number | null;
      rule: string | null;
      everywhere: boolean;
      /** For a source whose operator answers for what is forbidden: the pace holds all the same. */
      crawlDelayMs: number | null;
    }
  /** robots.txt could not be read and no good copy is left: not now. */
  | {
      answer: 'unavailable';
      retryMs: number;
      code: string;
      text: string;
      /** The host itself was not reached. */
      unreached: Unreached | null;
    }
  /** The lease ended before robots.txt was read: nothing is known and nothing may be stored. */
  | { answer: 'aborted' };

/** One request for robots.txt, paced and logged by the domain's run; `headers` has what its redirects set. */
export type RobotsAttempt = (
  url: string,
  headers: Record<string, string>,
) => Promise<Awaited<ReturnType<HttpClient['requestStream']>>>;

export type GateOptions = {
  db: Queryable;
  productToken: string;
  monotonic: () => number;
  defaultDelayMs: number;
};

type Key = { bucket: number; domainKey: bigint };
type Cached = { record: RobotsRecord; until: number };

const hourMs = 3_600_000;
/** How long a robots.txt serves, and when one is asked for again that could not be read or whose host was not reached. */
export const robotsLife = { goodMs: 24 * hourMs, retryMs: 600_000, unreachedMs: 60_000 };
const { goodMs: ttlMs, retryMs, unreachedMs } = robotsLife;
// Long enough to spare the database a read per URL, short enough that a copy another worker read is seen soon.
const memoryMs = 300_000;
const memoryEntries = 20_000;
const maxRedirects = 5;
// Says nothing of the server: it was not reached, or our own proxies are away.
const soon: ReadonlySet<FailureKind> = new Set(['dns', 'connect', 'proxy', 'no_proxy']);

/** robots.txt of origins: memory, then the shared copy, then a request. One per fetcher. */
export class RobotsGate {
  readonly #options: GateOptions;
  readonly #memory = new Map<string, Cached>();

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Decides about a URL, reading robots.txt first where no fresh copy is at hand. */
  async check(key: Key, url: string, attempt: RobotsAttempt): Promise<GateAnswer> {
    const origin = originOf(url);
    const answer = await this.#decide(key, origin, url, await this.#load(key, origin, attempt));
    if (answer.answer !== 'blocked' || !this.#memory.delete(origin)) return answer;
    // A refusal must not outlive the file it came from in this process's memory: the shared copy decides.
    return this.#decide(key, origin, url, await this.#load(key, origin, attempt));
  }

  /** Reads robots.txt of a URL's origin now, however fresh the copies are, and decides. */
  async recheck(key: Key, url: string, attempt: RobotsAttempt): Promise<GateAnswer> {
    const origin = originOf(url);
    const stored = await loadRobots(this.#options.db, key.bucket, key.domainKey, origin);
    return this.#decide(key, origin, url, await this.#read(key, origin, attempt, stored));
  }

  async #decide(key: Key, origin: string, url: string, record: RobotsRecord | null): Promise<GateAnswer> {
    if (record === null) return { answer: 'aborted' };
    const { productToken } = this.#options;
    if (!isRobotsUsable(record)) {
      return {
        answer: 'unavailable',
        retryMs: Math.max(1000, record.freshMs),
        code: 'robots_unavailable',
        text: `robots.txt of ${origin} could not be read (${record.errorCode ?? `status ${record.httpStatus}`})`,
        unreached: unreachedBy(record.errorCode),
      };
    }
    if (record.rules === null) return { answer: 'allowed', crawlDelayMs: null };
    const decision = decideRobots(record.rules, productToken, url);
    const delay = crawlDelayOf(record.rules, productToken);
    const crawlDelayMs = delay === null ? null : Math.round(delay.seconds * 1000);
    if (!decision.allowed) {
      return {
        answer: 'blocked',
        line: decision.line,
        rule: decision.rule,
        everywhere: disallowsEverything(record.rules, productToken) && (await this.#isClosedEverywhere(key)),
        crawlDelayMs,
      };
    }
    return { answer: 'allowed', crawlDelayMs };
  }

  async #load(key: Key, origin: string, attempt: RobotsAttempt): Promise<RobotsRecord | null> {
    const now = this.#options.monotonic();
    const cached = this.#memory.get(origin);
    if (cached !== undefined && cached.until > now) return cached.record;
    const stored = await loadRobots(this.#options.db, key.bucket, key.domainKey, origin);
    if (stored !== null && stored.freshMs > 0) return this.#remember(origin, stored);
    return this.#read(key, origin, attempt, stored);
  }

  async #mayAskElsewhere(key: Key, url: string): Promise<boolean> {
    const target = identifyUrl(url);
    if (target.outcome === 'rejected') return false;
    const { identity } = target;
    return (
      identity.domainKey === key.domainKey ||
      borrowTurn(this.#options.db, identity, this.#options.defaultDelayMs)
    );
  }

  async #isClosedEverywhere(key: Key): Promise<boolean> {
    const known = await loadRobotsOfDomain(this.#options.db, key.bucket, key.domainKey);
    return known.every(
      ({ outcome, rules }) =>
        outcome !== 'allow_all' && (rules === null || disallowsEverything(rules, this.#options.productToken)),
    );
  }

  async #read(
    key: Key,
    origin: string,
    attempt: RobotsAttempt,
    stored: RobotsRecord | null,
  ): Promise<RobotsRecord | null> {
    const read = await readRobots(`${origin}/robots.txt`, attempt, (url) => this.#mayAskElsewhere(key, url));
    if (read === null) return null;
    await saveRobots(this.#options.db, { ...key, origin }, read);
    const failed = read.outcome === 'unavailable';
    return this.#remember(origin, {
      ...read,
      rules: failed ? (stored?.rules ?? null) : read.rules,
      freshMs: read.ttlMs,
      goodAgeMs: failed ? (stored?.goodAgeMs ?? null) : 0,
    });
  }

  #remember(origin: string, record: RobotsRecord): RobotsRecord {
    if (this.#memory.size >= memoryEntries) this.#memory.clear();
    this.#memory.set(origin, {
      record,
      until: this.#options.monotonic() + Math.min(memoryMs, record.freshMs),
    });
    return record;
  }
}

const unreachedBy = (code: string | null): Unreached | null =>
  code === 'dns' || code === 'connect' || code === 'tls' ? code : null;

type Read = Pick<RobotsRecord, 'outcome' | 'httpStatus' | 'errorCode' | 'rules'> & { ttlMs: number };

const unavailable = (status: number | null, code: string | null, waitMs = retryMs): Read => ({
  outcome: 'unavailable',
  httpStatus: status,
  errorCode: code,
  rules: null,
  ttlMs: Math.max(60_000, waitMs),
});

async function readRobots(
  first: string,
  attempt: RobotsAttempt,
  mayAsk: (url: string) => Promise<boolean>,
): Promise<Read | null> {
  let url = first;
  // A site that gives its pages to whoever brings a cookie back may do so with its rules, and they hold all the same.
  const cookies = new ChainCookies();
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    const cookie = cookies.headerFor(url);
    const result = await attempt(url, cookie === null ? {} : { cookie });
    switch (result.outcome) {
      case 'redirect':
        cookies.take(url, result.headers['set-cookie']);
        if (!URL.canParse(result.location)) return unavailable(result.status, 'bad_redirect');
        url = result.location;
        // Another domain's pace is not ours to spend: not now, if it is being fetched or rests.
        if (!(await mayAsk(url))) return unavailable(result.status, 'robots_elsewhere', 60_000);
        continue;
      case 'failed':
        if (result.kind === 'aborted') return null;
        // Of a host that may not be fetched nothing else is asked; one that only its robots.txt leads to is not readable.
        return result.kind.startsWith('refused_') && hop === 0
          ? { outcome: 'allow_all', httpStatus: null, errorCode: result.kind, rules: null, ttlMs }
          : unavailable(null, result.kind, soon.has(result.kind) ? unreachedMs : retryMs);
      case 'not_modified':
      case 'unsupported_type':
        return unavailable(result.status, result.outcome);
      case 'response':
        return readResponse(result);
    }
  }
  // RFC 9309 section 2.3.1.2: after five redirects the file may count as missing, and a missing file allows all.
  return { outcome: 'allow_all', httpStatus: null, errorCode: 'too_many_redirects', rules: null, ttlMs };
}

async function readResponse(
  result: Extract<Awaited<ReturnType<RobotsAttempt>>, { outcome: 'response' }>,
): Promise<Read> {
  const { status } = result;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of result.body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_ROBOTS_BYTES) break;
    }
  } catch (error) {
    if (!(error instanceof HttpBodyError)) throw error;
    return unavailable(status, error.kind);
  }
  if (status >= 200 && status < 300) {
    return {
      outcome: 'rules',
      httpStatus: status,
      errorCode: null,
      rules: parseRobots(Buffer.concat(chunks)),
      ttlMs,
    };
  }
  if (status >= 400 && status < 500 && status !== 429)
    return { outcome: 'allow_all', httpStatus: status, errorCode: null, rules: null, ttlMs };
  const wait = retryAfterOf(result.headers);
  return unavailable(status, null, wait ?? retryMs);
}
