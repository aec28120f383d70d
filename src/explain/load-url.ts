import type { Queryable } from '../db/index.ts';
import { isRobotsUsable, loadRobots } from '../domains/index.ts';
import type { HoldReason, UrlKind, UrlOrigin, UrlStatus } from '../frontier/index.ts';
import { decideRobots } from '../robots/index.ts';
import { loadCap, prefixesOf } from '../sites/index.ts';
import { loadSwitches, type Switches } from '../switches/index.ts';
import { type HostRules, hasRules, identifyUrl, originOf, type UrlIdentity, urlId } from '../url/index.ts';

/** Everything known about why a URL is where it is. Times are the database's, ages counted by it. */
export type UrlFacts = {
  id: string;
  url: string;
  domain: string;
  row: RowFacts | null;
  slot: SlotFacts | null;
  robots:
    | { known: false }
    | { known: true; allowed: boolean; line: number | null; rule: string | null; unavailable: boolean };
  /** The host rules of its domain. */
  rules: HostRules;
  /** The row has the key it was given before the rules were as they are. */
  isKeyOlder: boolean;
  /** The cap it lies under. */
  trap: { prefix: string; reason: string } | null;
  /** URLs of the domain that go first, counted up to 1,000. */
  ahead: number;
  fetchersAlive: number;
  /** Every fetcher that is alive takes its own network for down. */
  isOutage: boolean;
  /** Groups of fetchers that have a browser. */
  renderGroups: string[];
  switches: Switches;
  now: Date;
};

export type RowFacts = {
  kind: UrlKind;
  origin: UrlOrigin;
  status: UrlStatus;
  ready: boolean;
  level: number;
  priority: number;
  tries: number;
  fetchCount: number;
  dueAt: Date | null;
  discoveredAt: Date;
  lastFetchedAt: Date | null;
  parentUrl: string | null;
  sourceName: string | null;
  httpStatus: number | null;
  errorCode: string | null;
  errorText: string | null;
  redirectedTo: string | null;
  duplicateOf: Buffer | null;
  /** The address whose document has its text. */
  duplicateUrl: string | null;
  hasDocument: boolean;
  /** What was stored of it, if it is an image. */
  image: StoredImage | null;
  /** The budget of its domain governs it. */
  budgeted: boolean;
  /** Its source's operator decided that Disallow does not hold for us. */
  ignoresDisallow: boolean;
};

export type StoredImage = {
  sha256: string;
  format: string;
  width: number;
  height: number;
  bytes: number;
  /** Pages that show it, counted to a hundred. */
  pages: number;
};

export type SlotFacts = {
  inFlight: boolean;
  leaseOwner: string | null;
  leaseUntil: Date | null;
  /** null: not by itself. */
  nextAt: Date | null;
  holdReason: HoldReason | null;
  delayMs: number;
  queued: number;
  /** Its own group of fetchers. */
  pool: string;
  domainStatus: string;
  statusReason: string | null;
  restUntil: Date | null;
  isPermanent: boolean;
  /** There is something to try while the domain rests; asked only then, because no index leads there. */
  hasChannel: boolean;
  isCircuitOpen: boolean;
  isBudgetOpen: boolean;
  budgetUntil: Date | null;
};

export const mostAhead = 1000;
export const mostPages = 100;

/** Gathers the facts about a URL: its row by key, its domain's slot, the shared robots.txt, and who goes first. */
export async function loadUrlFacts(
  db: Queryable,
  identity: UrlIdentity,
  options: { hash?: Buffer; defaultDelayMs: number; productToken: string },
): Promise<UrlFacts> {
  const hash = options.hash ?? identity.hash;
  const key = [identity.bucket, identity.domainKey.toString(), hash];
  const row = (await db.query<RowFacts & { url: string }>(rowQuery, key)).rows[0] ?? null;
  const slot = (await db.query<SlotFacts>(slotQuery, [...key, options.defaultDelayMs])).rows[0] ?? null;
  const fetchUrl = row?.url ?? identity.fetchUrl;
  const common = await loadCommon(db);
  const rules = await loadRules(db, identity);
  const waits = row?.ready === true && row.dueAt !== null;
  return {
    id: urlId(identity.domainKey, hash),
    url: fetchUrl,
    domain: identity.domain,
    row,
    slot,
    rules,
    isKeyOlder: row !== null && !isKeyedBy(rules, fetchUrl, hash),
    robots: await robotsFacts(db, identity, fetchUrl, options.productToken),
    trap: await loadCap(db, identity, prefixesOf(fetchUrl)),
    ahead: waits ? await countAhead(db, key, row) : 0,
    ...common,
  };
}

async function loadRules(db: Queryable, { bucket, domainKey }: UrlIdentity): Promise<HostRules> {
  const result = await db.query<{ rules: HostRules }>(
    'SELECT host_rules AS rules FROM domains WHERE bucket = $1 AND domain_key = $2',
    [bucket, domainKey.toString()],
  );
  return result.rows[0]?.rules ?? {};
}

/** Whether a hash is what the rules make of an address; without rules nobody asks. */
function isKeyedBy(rules: HostRules, url: string, hash: Buffer): boolean {
  if (!hasRules(rules)) return true;
  const identified = identifyUrl(url, { rules: () => rules });
  return identified.outcome === 'rejected' || identified.identity.hash.equals(hash);
}

/** What holds for everything: who works, what is switched off, and what time it is in the database. */
export async function loadCommon(
  db: Queryable,
): Promise<Pick<UrlFacts, 'fetchersAlive' | 'isOutage' | 'renderGroups' | 'switches' | 'now'>> {
  const result = await db.query<{
    now: Date;
    fetchersAlive: number;
    isOutage: boolean;
    renderGroups: string[];
  }>(
    `SELECT now() AS now, w.alive AS "fetchersAlive", w.away AS "isOutage", render_groups() AS "renderGroups"
       FROM (SELECT count(*)::integer AS alive, coalesce(bool_and(coalesce(state -> 'outage' = 'true', false)), false) AS away
               FROM workers WHERE role IN ('fetch', 'run') AND heartbeat_at > now() - interval '30 seconds') w`,
  );
  return { ...result.rows[0]!, switches: await loadSwitches(db) };
}

const rowQuery = `
  SELECT f.url, f.kind, f.origin, f.status, f.ready, f.level, f.priority, f.tries, f.fetch_count AS "fetchCount", f.due_at AS "dueAt",
         f.discovered_at AS "discoveredAt", f.last_fetched_at AS "lastFetchedAt", f.parent_url AS "parentUrl", s.name AS "sourceName",
         f.http_status AS "httpStatus", f.error_code AS "errorCode", f.error_text AS "errorText", f.redirected_to AS "redirectedTo",
         f.duplicate_of AS "duplicateOf", f.budgeted,
         (SELECT d.url FROM documents d WHERE d.bucket = f.bucket AND d.domain_key = f.domain_key AND d.url_hash = f.duplicate_of) AS "duplicateUrl",
         coalesce(s.settings -> 'respectRobots' = 'false', false) AS "ignoresDisallow",
         (SELECT json_build_object('sha256', encode(m.sha256, 'hex'), 'format', m.format, 'width', m.width, 'height', m.height,
                   'bytes', m.bytes, 'pages', (SELECT count(*) FROM (
                     SELECT FROM image_sightings i WHERE i.sha256 = m.sha256 LIMIT ${mostPages}) i))
            FROM images m WHERE f.kind = 'image' AND m.bucket = image_bucket(f.content_hash) AND m.sha256 = f.content_hash
             AND m.stored_at IS NOT NULL) AS image,
         EXISTS (SELECT FROM documents d WHERE d.bucket = f.bucket AND d.domain_key = f.domain_key AND d.url_hash = f.url_hash) AS "hasDocument"
    FROM url_frontier f LEFT JOIN sources s ON s.id = f.source_id
   WHERE f.bucket = $1 AND f.domain_key = $2 AND f.url_hash = $3`;

const slotQuery = `
  SELECT coalesce($3::bytea = ANY (s.in_flight), false) AS "inFlight", s.lease_owner AS "leaseOwner", s.lease_until AS "leaseUntil",
         nullif(s.next_at, 'infinity') AS "nextAt", s.hold_reason AS "holdReason", s.queued, s.own_pool AS pool, d.status AS "domainStatus", d.status_reason AS "statusReason",
         nullif(s.rest_until, 'infinity') AS "restUntil", coalesce(s.rest_until = 'infinity', false) AS "isPermanent",
         CASE WHEN d.status IN ('blocked', 'unreachable') THEN EXISTS (
           SELECT FROM channels c WHERE c.bucket = s.bucket AND c.domain_key = s.domain_key AND c.enabled) ELSE false END AS "hasChannel",
         s.circuit_good IS NOT NULL AS "isCircuitOpen", slot_budget_open(s, now()) AS "isBudgetOpen", s.budget_until AS "budgetUntil",
         slot_delay_ms(s, $4::integer) AS "delayMs"
    FROM domain_slots s JOIN domains d ON d.bucket = s.bucket AND d.domain_key = s.domain_key
   WHERE s.bucket = $1 AND s.domain_key = $2`;

// The pick index holds the domain's ready rows in this very order, in two halves: each of the four ranges is read from its
// beginning. As one condition with OR it read every ready row of a domain of a million to find that nobody goes first.
async function countAhead(db: Queryable, key: unknown[], row: RowFacts): Promise<number> {
  const half = (budgeted: boolean): string => `
    (SELECT FROM url_frontier f WHERE f.bucket = $1 AND f.domain_key = $2 AND f.ready AND f.budgeted = ${budgeted}
        AND f.level > $3 LIMIT ${mostAhead})
    UNION ALL
    (SELECT FROM url_frontier f WHERE f.bucket = $1 AND f.domain_key = $2 AND f.ready AND f.budgeted = ${budgeted}
        AND f.level = $3 AND f.due_at < $4 LIMIT ${mostAhead})`;
  const result = await db.query<{ ahead: number }>(
    `SELECT least(count(*), ${mostAhead})::integer AS ahead FROM (${half(false)} UNION ALL ${half(true)}) x`,
    [key[0], key[1], row.level, row.dueAt],
  );
  return result.rows[0]?.ahead ?? 0;
}

async function robotsFacts(
  db: Queryable,
  identity: UrlIdentity,
  fetchUrl: string,
  productToken: string,
): Promise<UrlFacts['robots']> {
  const record = await loadRobots(db, identity.bucket, identity.domainKey, originOf(fetchUrl));
  if (record === null) return { known: false };
  // As a fetcher decides: a good copy serves for a while, and a file that was missing then allows all.
  const unavailable = !isRobotsUsable(record);
  if (unavailable || record.rules === null)
    return { known: true, allowed: !unavailable, line: null, rule: null, unavailable };
  return { known: true, ...decideRobots(record.rules, productToken, fetchUrl), unavailable: false };
}
