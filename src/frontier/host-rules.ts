import type { Queryable } from '../db/index.ts';
import {
  type HostRules,
  type IdentifyResult,
  identifyUrl,
  type RulesOf,
  type UrlIdentity,
} from '../url/index.ts';

// A process names URLs by rules that are at most so old; re-keying looks again long after that.
const lifeMs = 5000;

type Kept = { rules: Promise<RulesOf>; until: number };
const kept = new WeakMap<Queryable, Kept>();

const none: RulesOf = () => undefined;

/**
 * The rules of all domains that have some, read again every five seconds. For whoever names URLs by the hundred: with the
 * answer kept it costs nothing, and a domain without rules one look into an empty map.
 */
export function loadHostRules(db: Queryable): Promise<RulesOf> {
  const now = performance.now();
  const known = kept.get(db);
  if (known !== undefined && now < known.until) return known.rules;
  const rules = readHostRules(db);
  kept.set(db, { rules, until: now + lifeMs });
  // What could not be read is asked for again by the next.
  rules.catch(() => kept.delete(db));
  return rules;
}

/** Few rows or none. Index: domains_with_rules, one buffer while it is empty. */
async function readHostRules(db: Queryable): Promise<RulesOf> {
  const result = await db.query<{ name: string; rules: HostRules }>(
    'SELECT name, rules FROM host_rules_all()',
  );
  if (result.rows.length === 0) return none;
  const byDomain = new Map(result.rows.map(({ name, rules }) => [name, rules]));
  return (domain) => byDomain.get(domain);
}

/** Changes the rules of a domain; false: it is not known, or has these already. What waits is re-keyed by the scheduler. */
export async function saveHostRules(
  db: Queryable,
  key: { bucket: number; domainKey: bigint },
  rules: HostRules,
  skewMs = 0,
): Promise<boolean> {
  const result = await db.query<{ changed: boolean }>(
    `SELECT domain_set_rules($1::smallint, $2, $3, $4 * interval '1 millisecond') AS changed`,
    [key.bucket, key.domainKey.toString(), JSON.stringify(rules), skewMs],
  );
  kept.delete(db);
  return result.rows[0]!.changed;
}

/**
 * What a single URL is known by, for whoever looks one up: by the rules of its domain as they are now. A row that was
 * fetched before there were rules keeps the key it had then, and is found by its address all the same. Indexes:
 * domains_pkey, url_frontier_pkey.
 */
export async function identifyKnown(db: Queryable, url: string): Promise<IdentifyResult> {
  const plain = identifyUrl(url);
  if (plain.outcome === 'rejected') return plain;
  const { bucket, domainKey, hash } = plain.identity;
  const found = await db.query<{ rules: HostRules }>(
    `SELECT host_rules AS rules FROM domains WHERE bucket = $1 AND domain_key = $2 AND host_rules <> '{}'`,
    [bucket, domainKey.toString()],
  );
  const rules = found.rows[0]?.rules;
  if (rules === undefined) return plain;
  const today = identifyUrl(url, { rules: () => rules });
  if (today.outcome === 'rejected' || today.identity.hash.equals(hash)) return today;
  return (await isKnownAs(db, plain.identity, today.identity, rules)) ? plain : today;
}

/** Whether the row of the key without rules is the address's own, and none has the key of today. */
async function isKnownAs(
  db: Queryable,
  plain: UrlIdentity,
  today: UrlIdentity,
  rules: HostRules,
): Promise<boolean> {
  const rows = await db.query<{ hash: Buffer; url: string }>(
    'SELECT url_hash AS hash, url FROM url_frontier WHERE bucket = $1 AND domain_key = $2 AND url_hash = ANY ($3)',
    [plain.bucket, plain.domainKey.toString(), [plain.hash, today.hash]],
  );
  const [only] = rows.rows;
  if (rows.rows.length !== 1 || only === undefined || !only.hash.equals(plain.hash)) return false;
  const itself = identifyUrl(only.url, { rules: () => rules });
  return itself.outcome === 'ok' && itself.identity.hash.equals(today.hash);
}
