import type { ItemEnd, Outage } from '../sink.ts';

/** A document on its way into an index. */
export type BulkItem = { index: string; id: string; record: Record<string, unknown> };

/**
 * What the server does with a document that it has already. A classifier works on the same document: its verdict stays
 * as long as the text does. External versions could not say so, because each of a classifier's own writes raises them;
 * the time of the crawl orders versions instead.
 */
const script = `
  def old = ctx._source;
  def next = params.record;
  if (old.crawled_at != null && old.crawled_at.compareTo(next.crawled_at) > 0) { ctx.op = 'none'; return; }
  if (old.raw_text != null && old.raw_text.equals(next.raw_text)) {
    if (old.classification_status != null) { next.classification_status = old.classification_status; }
    if (old.classified_at != null) { next.classified_at = old.classified_at; }
  }
  if (old.equals(next)) { ctx.op = 'none'; } else { ctx._source = next; }
`
  .replace(/\s+/g, ' ')
  .trim();

const writersAtOnce = 3;

/** The two lines of a document in a bulk request. */
export function bulkLines({ index, id, record }: BulkItem): Buffer {
  const action = { update: { _index: index, _id: id, retry_on_conflict: writersAtOnce } };
  const body = { script: { lang: 'painless', source: script, params: { record } }, upsert: record };
  return Buffer.from(`${JSON.stringify(action)}\n${JSON.stringify(body)}\n`);
}

type ItemError = { type?: string; reason?: string; caused_by?: ItemError };
type ItemResult = { status: number; error?: ItemError };

/** Reads a bulk answer item by item: a status of 200 with errors in it is no success. Null where it is none. */
export function parseBulkAnswer(text: string, items: readonly BulkItem[]): (ItemEnd | Outage)[] | null {
  let answer: { items?: { update?: ItemResult }[] };
  try {
    answer = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  if (!Array.isArray(answer?.items) || answer.items.length !== items.length) return null;
  return answer.items.map((item, index) => endOf(item?.update, items[index]!.index));
}

function endOf(result: ItemResult | undefined, index: string): ItemEnd | Outage {
  if (result === undefined || typeof result.status !== 'number')
    return { end: 'retry', reason: 'the answer does not say what became of it' };
  if (result.status < 300) return { end: 'delivered' };
  const reason = explain(result.error ?? {}, index);
  // This index takes nothing at all: it is without its shards, not there, or closed.
  const isItsIndex = /^index_(not_found|closed)_exception$/.test(result.error?.type ?? '');
  if (isItsIndex || result.status === 503) return { end: 'later', reason };
  // Read-only because its disk is full, or not ours to write: maybe this one, maybe all.
  if (result.status === 401 || result.status === 403) return { reason };
  const isForNow = result.status === 409 || result.status === 429 || result.status >= 500;
  return { end: isForNow ? 'retry' : 'rejected', reason };
}

/** What the server said, and what to do about it where that is known. */
export function explain(error: ItemError, index: string): string {
  const causes: string[] = [];
  for (let at: ItemError | undefined = error; at !== undefined && causes.length < 4; at = at.caused_by)
    causes.push([at.type, at.reason].filter((one) => typeof one === 'string').join(': '));
  const said =
    causes
      .filter((one) => one !== '')
      .join('; ')
      .slice(0, 1000) || 'no reason given';
  if (/strict_dynamic_mapping_exception|mapper_parsing_exception|document_parsing_exception/.test(said))
    return `${said}. The index ${index} was made with another mapping: add the field (PUT ${index}/_mapping), or delete the index and run "outrider sinks replay"`;
  if (/index_closed_exception/.test(said))
    return `${said}. The index ${index} is closed: open it (POST ${index}/_open); what is meant for it waits`;
  if (/unavailable_shards_exception/.test(said))
    return `${said}. The index ${index} is red; GET _cluster/allocation/explain says why; what is meant for it waits`;
  if (/cluster_block_exception/.test(said))
    return `${said}. The cluster refuses writes, most often because a disk is full: free room, then PUT ${index}/_settings {"index.blocks.read_only_allow_delete": null}`;
  return said;
}
