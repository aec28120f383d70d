import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Queryable } from '../db/index.ts';
import { channelHash, identifyUrl, probeHash, type RulesOf, type UrlIdentity } from '../url/index.ts';
import { loadHostRules } from './host-rules.ts';
import { levelOf } from './levels.ts';
import { hexBytes, rowsToJson, type UrlKind, type UrlOrigin } from './rows.ts';

/** A URL somebody wants fetched. */
export type SubmitItem = {
  url: string;
  /** What relative addresses are resolved against. */
  base?: string | undefined;
  kind: UrlKind;
  origin: UrlOrigin;
  sourceId: number | null;
  priority: number;
  depth?: number;
  hops?: number;
  parentUrl?: string | null;
  executionId?: bigint | null;
  /** When it is due; now unless said. */
  dueAt?: Date | null;
  /** When the producer says it was published or changed. */
  modifiedAt?: Date | null;
  /** A run of a job: what was fetched before this time is fetched again, once. */
  refetchBefore?: Date | null;
  /** When it was first published; only measured by, never stored. */
  publishedAt?: Date | null;
  /** Of the producer's own registrable domain, or a person's wish: may raise and refresh known rows. */
  own: boolean;
  /** For probes: makes the row unique. */
  probeId?: string;
};

/** What became of an item; `rejected:<reason>` says why it never reached the frontier. */
export type SubmitAnswer = 'inserted' | 'raised' | 'refreshed' | 'duplicate' | `rejected:${string}`;

/** One answer per item, in order, with the identity under which it is known. */
export type SubmitResult = { answer: SubmitAnswer; identity: UrlIdentity | null; hash: Buffer | null };

export type SubmitOptions = { refetchAgeHours?: number; skewMs?: number };

// Each chunk is its own transaction: long ones would hold slots that fetchers want. 500 keeps the call under 50 ms.
const chunkSize = 500;

type Prepared = { index: number; identity: UrlIdentity; hash: Buffer; item: SubmitItem };

/** Submits a batch. Idempotent: a crash in between only means submitting it again. */
export async function submit(
  db: Queryable,
  items: readonly SubmitItem[],
  options: SubmitOptions = {},
): Promise<SubmitResult[]> {
  const { results, prepared } = await prepare(items, await loadHostRules(db));
  for (let start = 0; start < prepared.length; start += chunkSize) {
    const chunk = prepared.slice(start, start + chunkSize);
    for (const row of await submitChunk(db, chunk, options)) results[row.ord]!.answer = row.answer;
  }
  return results;
}

/** What submitting a batch would answer; writes nothing. */
export async function previewSubmit(
  db: Queryable,
  items: readonly SubmitItem[],
  options: SubmitOptions = {},
): Promise<SubmitResult[]> {
  const { results, prepared } = await prepare(items, await loadHostRules(db));
  // As one: the same URL twice counts once, wherever it stands.
  const answered = await db.query<{ ord: number; answer: SubmitAnswer }>(
    `SELECT ord, answer FROM submit_preview($1, $2 * interval '1 hour', $3 * interval '1 millisecond')`,
    [rowsToJson(prepared.map(rowOf)), options.refetchAgeHours ?? 6, options.skewMs ?? 0],
  );
  for (const row of answered.rows) results[row.ord]!.answer = row.answer;
  return results;
}

// Reading ten thousand addresses takes a tenth of a second, in which others want their turn.
const preparedAtOnce = 1000;

async function prepare(
  items: readonly SubmitItem[],
  rules: RulesOf,
): Promise<{ results: SubmitResult[]; prepared: Prepared[] }> {
  const results: SubmitResult[] = new Array(items.length);
  const prepared: Prepared[] = [];
  const known = new Map<string, Prepared>();
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % preparedAtOnce === 0) await nextTurn();
    const identified = identifyUrl(
      item.url,
      item.base === undefined ? { rules } : { base: item.base, rules },
    );
    if (identified.outcome === 'rejected') {
      results[index] = { answer: `rejected:${identified.reason}`, identity: null, hash: null };
      continue;
    }
    const { identity } = identified;
    const hash = hashOf(item, identity);
    results[index] = { answer: 'duplicate', identity, hash };
    const key = `${identity.domainKey}-${hash.toString('base64')}`;
    const first = known.get(key);
    if (first === undefined) {
      const one = { index, identity, hash, item };
      known.set(key, one);
      prepared.push(one);
    } else first.item = merge(first.item, item);
  }
  // Grouped by bucket so that a chunk touches few buckets; the order inside a bucket is the producer's.
  prepared.sort((a, b) => a.identity.bucket - b.identity.bucket || a.index - b.index);
  return { results, prepared };
}

/**
 * The same URL twice in a batch counts once, as all of them together say: the first decides what it is, the best of the
 * others how soon. A page that an item repeats with a newer date would otherwise wait until it is listed again.
 */
function merge(first: SubmitItem, other: SubmitItem): SubmitItem {
  // A link elsewhere may not raise what is the producer's own.
  if (first.own !== other.own) return first.own ? first : other;
  return {
    ...first,
    priority: Math.max(first.priority, other.priority),
    dueAt: first.dueAt && other.dueAt ? earlier(first.dueAt, other.dueAt) : null,
    modifiedAt: later(first.modifiedAt, other.modifiedAt),
  };
}

const earlier = (a: Date, b: Date): Date => (a <= b ? a : b);
const later = (a: Date | null | undefined, b: Date | null | undefined): Date | null =>
  a && b ? (a >= b ? a : b) : (a ?? b ?? null);

function hashOf(item: SubmitItem, identity: UrlIdentity): Buffer {
  if (item.kind === 'channel') return channelHash(identity.fetchUrl);
  if (item.kind === 'probe') return probeHash(item.probeId ?? '', identity.fetchUrl);
  return identity.hash;
}

async function submitChunk(
  db: Queryable,
  chunk: readonly Prepared[],
  options: SubmitOptions,
): Promise<{ ord: number; answer: SubmitAnswer }[]> {
  const result = await db.query<{ ord: number; answer: SubmitAnswer }>(
    `SELECT ord, answer FROM frontier_submit($1, $2 * interval '1 hour', $3 * interval '1 millisecond', $4)`,
    [rowsToJson(chunk.map(rowOf)), options.refetchAgeHours ?? 6, options.skewMs ?? 0, mayNotify()],
  );
  return result.rows;
}

// undefined: the key is left out, which reads as NULL and spares the server the bytes.
function rowOf({ index, identity, hash, item }: Prepared): object {
  return {
    ord: index,
    bucket: identity.bucket,
    domain_key: identity.domainKey.toString(),
    domain: identity.domain,
    parent_domain: identity.registrableDomain ?? undefined,
    url_hash: hexBytes(hash),
    url: identity.fetchUrl,
    kind: item.kind,
    origin: item.origin,
    source_id: item.sourceId ?? undefined,
    priority: item.priority,
    level: levelOf(item.kind, item.priority),
    depth: item.depth ?? 0,
    hops: item.hops ?? 0,
    parent_url: item.parentUrl ?? undefined,
    parent_hash: item.parentUrl ? hexBytes(createHash('sha256').update(item.parentUrl).digest()) : undefined,
    execution_id: item.executionId?.toString(),
    due_at: item.dueAt ?? undefined,
    modified_at: item.modifiedAt ?? undefined,
    refetch_before: item.refetchBefore ?? undefined,
    own: item.own,
  };
}

const notifyEveryMs = 100;
let notifiedAt = Number.NEGATIVE_INFINITY;

// A NOTIFY takes a lock of the whole database at commit: a process asks for it at most ten times a second.
function mayNotify(): boolean {
  const now = performance.now();
  if (now - notifiedAt < notifyEveryMs) return false;
  notifiedAt = now;
  return true;
}
