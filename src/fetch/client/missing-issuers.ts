import type { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import {
  hasIssued,
  isInForce,
  isSelfIssued,
  issuerAddressOf,
  parseCertificate,
  parsePemCertificates,
  toPem,
} from './issuer-chain.ts';
import type { ProxyServer } from './proxies/index.ts';
import type { Failure, FailureKind } from './result.ts';

/** Why an issuer's address gave nothing; `status` where it answered. */
export type IssuerFailure = Failure & { status?: number };

/** Asks an address of an issuer, by the same way as the site itself. */
export type AskIssuer = (url: string, via: ProxyServer | null) => Promise<Buffer | IssuerFailure>;

/** Who sent a chain: the key of its connections, and the registrable domain that answers for what it makes us ask. */
export type ChainSender = { key: string; domain: string; via: ProxyServer | null };

/** What a search came to; `why` ends the sentence of the failure. */
export type IssuerSearch = { outcome: 'found' } | { outcome: 'not_found'; why: string | null };

/** What the search needs. */
export type MissingIssuersOptions = {
  ask: AskIssuer;
  /** PEM certificates trusted besides the public ones. */
  ca?: string | undefined;
  /** Monotonic, in milliseconds. */
  now?: () => number;
};

const MAX_LEVELS = 3;
const MAX_ASKED_PER_DOMAIN = 3;
const MAX_ASKED_AT_ONCE = 4;
const MAX_ISSUERS = 500;
const MAX_SENDERS = 10_000;
const HOUR_MS = 60 * 60 * 1000;
// What passes by itself, an outage of our own among it, keeps a site away no longer than a broken proxy does.
const PASSING_MS = 5 * 60 * 1000;
const PASSING = new Set<FailureKind>(['dns', 'connect', 'timeout', 'reset', 'proxy']);

const NOT_SENT = 'the site does not send its intermediate certificate';

type Answer = { certificate: X509Certificate } | { why: string; passes?: boolean };
type Kept<T> = { value: T; until: number };

function passes({ kind, status = 0 }: IssuerFailure): boolean {
  return PASSING.has(kind) || status === 429 || status >= 500;
}

/** Puts it last, and lets the first ones go: maps are kept in the order of use. */
function keep<V>(map: Map<string, V>, key: string, value: V, most: number): void {
  map.delete(key);
  for (const oldest of map.keys()) {
    if (map.size < most) break;
    map.delete(oldest);
  }
  map.set(key, value);
}

/** What Node trusts besides its own list, when it trusts the default. */
function readExtraRoots(): string {
  const file = process.env.NODE_EXTRA_CA_CERTS;
  if (file === undefined || file === '') return '';
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Node has warned of it at its start, and trusts nothing of it either.
    return '';
  }
}

/**
 * Finds the intermediate certificates that sites do not send, at the addresses that certificates name. What is found is
 * kept only when signatures lead from it to a trusted root, and is used only for sites that need it: no site can bring
 * in a certificate that stands in another one's way.
 */
export class MissingIssuers {
  readonly #ask: AskIssuer;
  readonly #ca: string | undefined;
  readonly #now: () => number;
  #anchors: { pem: string[]; certificates: X509Certificate[] } | null = null;
  /** Intermediates below a trusted root, by fingerprint. */
  readonly #issuers = new Map<string, X509Certificate>();
  /** The intermediates each sender needs. */
  readonly #needs = new Map<string, readonly string[]>();
  readonly #refusals = new Map<string, Kept<string | null>>();
  readonly #answers = new Map<string, Kept<Promise<Answer>>>();
  /** What each domain made us ask, and when first. */
  readonly #asked = new Map<string, readonly { what: string; at: number }[]>();
  #context: SecureContext | null = null;
  #asking = 0;
  readonly #waiting: (() => void)[] = [];

  constructor({ ask, ca, now = () => performance.now() }: MissingIssuersOptions) {
    this.#ask = ask;
    this.#ca = ca;
    this.#now = now;
  }

  /** The context for a sender known to leave something out; undefined for all others. */
  contextOf({ key }: ChainSender): SecureContext | undefined {
    const needed = this.#needs.get(key);
    if (needed === undefined) return undefined;
    keep(this.#needs, key, needed, MAX_SENDERS);
    for (const print of needed) {
      const issuer = this.#issuers.get(print);
      if (issuer !== undefined) keep(this.#issuers, print, issuer, MAX_ISSUERS);
    }
    this.#context ??= this.#buildContext();
    return this.#context;
  }

  /** Why there is no use in looking at a sender's chain again for now; undefined when there is. */
  refusalOf({ key }: ChainSender): string | null | undefined {
    const refusal = this.#refusals.get(key);
    return refusal !== undefined && refusal.until > this.#now() ? refusal.value : undefined;
  }

  /** It did not help, or could not: the sender's chain is not looked at for an hour unless said. */
  giveUp({ key }: ChainSender, why: string | null, forMs = HOUR_MS): void {
    this.#needs.delete(key);
    keep(this.#refusals, key, { value: why, until: this.#now() + forMs }, MAX_SENDERS);
  }

  /** Its chain is no longer what it was. */
  forget({ key }: ChainSender): void {
    this.#needs.delete(key);
  }

  /** Looks for what is missing between a chain as sent and the trusted roots; what comes of it is remembered. */
  async find(sender: ChainSender, chain: readonly X509Certificate[]): Promise<IssuerSearch> {
    const found = await this.#climb(sender, chain);
    if (!Array.isArray(found)) {
      if (found.forMs !== 0) this.giveUp(sender, found.why, found.forMs);
      return { outcome: 'not_found', why: found.why };
    }
    for (const issuer of found) {
      if (!this.#issuers.has(issuer.fingerprint256)) this.#context = null;
      keep(this.#issuers, issuer.fingerprint256, issuer, MAX_ISSUERS);
    }
    if (found.length > 0)
      keep(
        this.#needs,
        sender.key,
        found.map((issuer) => issuer.fingerprint256),
        MAX_SENDERS,
      );
    return { outcome: 'found' };
  }

  async #climb(
    sender: ChainSender,
    chain: readonly X509Certificate[],
  ): Promise<X509Certificate[] | { why: string | null; forMs?: number }> {
    const found: X509Certificate[] = [];
    let last = chain.at(-1);
    while (last !== undefined && !this.#isBelowRoot(last)) {
      if (found.length === MAX_LEVELS) return { why: `${NOT_SENT}, and more than ${MAX_LEVELS} are missing` };
      const known = this.#knownIssuerOf(last);
      if (known !== undefined) {
        found.push(known);
        last = known;
        continue;
      }
      // One that signed itself is what the site wants to be believed by, and one without an address leads nowhere.
      const url = isSelfIssued(last) ? null : issuerAddressOf(last);
      if (url === null)
        return { why: found.length === 0 ? null : 'its certificates lead to no trusted root' };
      const answer = await this.#answerOf(url, sender);
      const where = url.slice(0, 120);
      if (answer === 'aborted') return { why: null, forMs: 0 };
      if ('why' in answer)
        return {
          why: `${NOT_SENT}, and ${where} does not give it: ${answer.why}`,
          ...(answer.passes === true ? { forMs: PASSING_MS } : {}),
        };
      const { certificate } = answer;
      if (!hasIssued(certificate, last))
        return { why: `${NOT_SENT}, and the certificate at ${where} is not its issuer's` };
      if (isSelfIssued(certificate)) return { why: 'its certificates lead to a root that is not trusted' };
      found.push(certificate);
      last = certificate;
    }
    return found;
  }

  #knownIssuerOf(certificate: X509Certificate): X509Certificate | undefined {
    for (const issuer of this.#issuers.values())
      if (hasIssued(issuer, certificate) && isInForce(issuer)) return issuer;
    return undefined;
  }

  #isBelowRoot(certificate: X509Certificate): boolean {
    return this.#trusted().certificates.some((root) => hasIssued(root, certificate));
  }

  /** Read when first needed: it takes a tenth of a second, which most processes never have to spend. */
  #trusted(): { pem: string[]; certificates: X509Certificate[] } {
    if (this.#anchors === null) {
      const pem = [...rootCertificates, this.#ca ?? readExtraRoots()].filter((text) => text !== '');
      this.#anchors = { pem, certificates: pem.flatMap(parsePemCertificates) };
    }
    return this.#anchors;
  }

  #buildContext(): SecureContext {
    return createSecureContext({
      ca: [...this.#trusted().pem, ...[...this.#issuers.values()].map(toPem)],
      // What is found is a step to a root and never a root.
      allowPartialTrustChain: false,
    });
  }

  /** One answer per address, way and hour, whoever asks; sooner again where what kept it passes. */
  async #answerOf(url: string, { domain, via }: ChainSender): Promise<Answer | 'aborted'> {
    const now = this.#now();
    // What one proxy is refused, or does not reach, says nothing of the other ways.
    const what = via === null ? url : `${url} via ${via.key}`;
    let kept = this.#answers.get(what);
    if (kept === undefined || kept.until <= now) {
      const lately = (this.#asked.get(domain) ?? []).filter(({ at }) => at > now - HOUR_MS);
      if (!lately.some((asked) => asked.what === what)) {
        if (lately.length >= MAX_ASKED_PER_DOMAIN)
          return { why: `${domain} has named ${MAX_ASKED_PER_DOMAIN} others within the hour` };
        keep(this.#asked, domain, [...lately, { what, at: now }], MAX_SENDERS);
      }
      kept = { value: this.#fetch(url, via), until: now + HOUR_MS };
      keep(this.#answers, what, kept, MAX_ISSUERS);
    }
    const answer = await kept.value;
    if (!('why' in answer)) return answer;
    if (answer.passes === true) kept.until = Math.min(kept.until, now + PASSING_MS);
    if (answer.why !== 'aborted') return answer;
    this.#answers.delete(what);
    return 'aborted';
  }

  async #fetch(url: string, via: ProxyServer | null): Promise<Answer> {
    if (this.#asking >= MAX_ASKED_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#asking += 1;
    try {
      const answer = await this.#ask(url, via);
      if (!Buffer.isBuffer(answer))
        return {
          why: answer.kind === 'aborted' ? 'aborted' : `${answer.kind}, ${answer.detail}`.slice(0, 120),
          passes: passes(answer),
        };
      const certificate = parseCertificate(answer);
      return certificate === null ? { why: 'what is there is no certificate' } : { certificate };
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#asking -= 1;
      else next();
    }
  }
}
