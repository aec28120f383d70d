import { isUtf8 } from 'node:buffer';
import { unpackPage } from '../../fetch/index.ts';
import type { Delivery } from '../../outbox/index.ts';
import { decodeBytes } from '../../text/index.ts';
import { urlId } from '../../url/index.ts';
import { goesOn, judge } from '../doubts.ts';
import { excerptOf, isForNow, type ServiceAnswer, ServiceClient } from '../http.ts';
import type { BatchEnd, ItemEnd, Outage, Sink } from '../sink.ts';
import { type BulkItem, bulkLines, parseBulkAnswer } from './bulk.ts';
import { indexName, rawContentMapping, rawContentRecord } from './raw-content.ts';

export type ElasticsearchOptions = {
  name: string;
  /** May hold a user and a password. */
  url: string;
  apiKey: string | null;
  shards: number;
  replicas: number;
  rawHtml: boolean;
  userAgent: string;
};

const templateName = 'outrider_raw_content';
// Raised with every change of the mapping: an older template is replaced then.
const templateVersion = 1;
const mostHtmlChars = 4_000_000;
const mostRequestBytes = 12 * 1024 * 1024;
// Of shards that are away the server waits a minute by itself: longer than we do, and for one index all would fail.
const bulkPath = '/_bulk?timeout=15s';
const mostAnswerBytes = 32 * 1024 * 1024;

/** Elasticsearch 7.8 or later, or OpenSearch: each document under its id in the index of its source. */
export function createElasticsearchSink(options: ElasticsearchOptions): Sink {
  const { url, headers } = connectionOf(options);
  let client: ServiceClient | null = null;

  const send = (
    method: 'GET' | 'PUT' | 'POST',
    path: string,
    body: string | Buffer | null,
    signal: AbortSignal,
  ): Promise<ServiceAnswer> => {
    client ??= new ServiceClient({ connections: 2, mostAnswerBytes });
    const type = path === bulkPath ? 'application/x-ndjson' : 'application/json';
    return client.send({
      method,
      url: `${url}${path}`,
      headers: { ...headers, ...(body === null ? {} : { 'content-type': type }) },
      ...(body === null ? {} : { body }),
      signal,
    });
  };

  async function open(_position: unknown, signal: AbortSignal): Promise<Outage | null> {
    const found = await send('GET', `/_index_template/${templateName}`, null, signal);
    if (found.outcome === 'answered' && found.status === 200 && versionOf(found.text) >= templateVersion)
      return null;
    if (found.outcome === 'failed' || (found.status !== 200 && found.status !== 404)) return outageOf(found);
    const made = await send('PUT', `/_index_template/${templateName}`, template(options), signal);
    return made.outcome === 'answered' && made.status < 300 ? null : outageOf(made);
  }

  async function deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<BatchEnd> {
    const ends: ItemEnd[] = batch.map(() => ({ end: 'waiting' }));
    for (const part of parts(await Promise.all(batch.map((one) => bulkItem(one, options.rawHtml))))) {
      const outage = await sendPart(part, ends, signal);
      if (outage !== null) return judge(batch, { ends, outage });
      if (!goesOn(ends)) break;
    }
    return judge(batch, { ends });
  }

  /** Sends documents, in halves where the server finds them too many or one of them bad; notes each one's end. */
  async function sendPart(part: Part, ends: ItemEnd[], signal: AbortSignal): Promise<Outage | null> {
    if (!goesOn(ends)) return null;
    const answer = await send('POST', bulkPath, Buffer.concat(part.map(({ lines }) => lines)), signal);
    if (answer.outcome === 'failed') return outageOf(answer);
    const isFiltered = answer.status === 403 && !isServersOwn(answer.text);
    if (answer.status === 413 || answer.status === 400 || isFiltered) {
      if (part.length === 1) {
        const advice = isFiltered ? ' (not the server itself: a proxy or firewall in front of it)' : '';
        ends[part[0]!.at] = {
          end: isFiltered ? 'retry' : 'rejected',
          reason: `the server answered ${answer.status}${advice}${excerptOf(answer.text)}`,
        };
        return null;
      }
      const middle = part.length >> 1;
      return (
        (await sendPart(part.slice(0, middle), ends, signal)) ?? sendPart(part.slice(middle), ends, signal)
      );
    }
    if (answer.status >= 300) return outageOf(answer);
    const results = parseBulkAnswer(
      answer.text,
      part.map(({ item }) => item),
    );
    if (results === null)
      return { reason: `the answer to a bulk request cannot be read${excerptOf(answer.text)}` };
    const busy = allBusy(results);
    if (busy !== null) return busy;
    let outage: Outage | null = null;
    for (const [index, result] of results.entries()) {
      if ('end' in result) ends[part[index]!.at] = result;
      else outage ??= result;
    }
    return outage;
  }

  return {
    name: options.name,
    kind: 'elasticsearch',
    batch: { items: 200, bytes: 8 * 1024 * 1024, withRaw: options.rawHtml },
    open,
    deliver,
    close: async () => {
      const open = client;
      client = null;
      await open?.close();
    },
  };
}

type Part = { at: number; item: BulkItem; lines: Buffer }[];

/** Documents in requests of a bounded size. */
function parts(items: readonly BulkItem[]): Part[] {
  const all: Part[] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const [at, item] of items.entries()) {
    const lines = bulkLines(item);
    if (bytes + lines.length > mostRequestBytes) {
      all.push([]);
      bytes = 0;
    }
    all.at(-1)!.push({ at, item, lines });
    bytes += lines.length;
  }
  return all;
}

async function bulkItem({ document, raw }: Delivery, withHtml: boolean): Promise<BulkItem> {
  let html: string | null = null;
  if (withHtml && raw !== null) {
    const bytes = await unpackPage(raw.body, raw.encoding);
    if (bytes !== null)
      html = decodeBytes(bytes, {
        kind: 'html',
        ...(raw.contentType === null ? {} : { contentType: raw.contentType }),
      }).text;
    // Cut it would not be the page any more.
    if (html !== null && html.length > mostHtmlChars) html = null;
  }
  return {
    index: indexName(document.sourceSlug),
    id: urlId(document.domainKey, document.hash),
    record: rawContentRecord({ document, html }),
  };
}

/** A server that is too busy for every document is asked again later, without blame on the documents. */
function allBusy(results: readonly (ItemEnd | Outage)[]): Outage | null {
  const reasons = results.map((result) => ('end' in result && result.end === 'retry' ? result.reason : null));
  return reasons.every((reason) => reason !== null) && results.length > 1 ? { reason: reasons[0]! } : null;
}

/** Whether a refusal comes from the server: what stands in front of it looks into texts, and may refuse a single one. */
function isServersOwn(text: string): boolean {
  try {
    const { error } = JSON.parse(text) as { error?: { type?: unknown } };
    return typeof error?.type === 'string';
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return false;
    throw error;
  }
}

function template({ shards, replicas }: ElasticsearchOptions): string {
  return JSON.stringify({
    index_patterns: ['*_raw_content'],
    priority: 100,
    version: templateVersion,
    template: {
      settings: { number_of_shards: shards, number_of_replicas: replicas },
      mappings: rawContentMapping(),
    },
  });
}

function versionOf(text: string): number {
  try {
    const { index_templates: found } = JSON.parse(text) as {
      index_templates?: { index_template?: { version?: number } }[];
    };
    return found?.[0]?.index_template?.version ?? 0;
  } catch (error) {
    if (error instanceof SyntaxError) return 0;
    throw error;
  }
}

/** A user or password of an address; a percent sign that begins no escape is one of the password. */
const unescaped = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    const bytes = Buffer.from(escapes.replaceAll('%', ''), 'hex');
    return isUtf8(bytes) ? bytes.toString() : escapes;
  });

function connectionOf(options: ElasticsearchOptions): { url: string; headers: Record<string, string> } {
  const url = new URL(options.url);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  const basic = `${unescaped(username)}:${unescaped(password)}`;
  return {
    url: url.href.replace(/\/+$/, ''),
    headers: {
      'user-agent': options.userAgent,
      ...(options.apiKey === null ? {} : { authorization: `ApiKey ${options.apiKey}` }),
      ...(username === '' ? {} : { authorization: `Basic ${Buffer.from(basic).toString('base64')}` }),
    },
  };
}

function outageOf(answer: ServiceAnswer): Outage {
  if (answer.outcome === 'failed') return { reason: answer.reason };
  const { status, text, retryAfterMs } = answer;
  const advice = status === 401 || status === 403 ? ' (check the user, password or API key)' : '';
  return {
    reason: `the server answered ${status}${advice}${excerptOf(text)}`,
    ...(retryAfterMs === null || !isForNow(status) ? {} : { retryAfterMs }),
  };
}
