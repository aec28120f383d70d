import { isUtf8 } from 'node:buffer';
import { unpackPage } from '../../fetch/index.ts';
import type { Delivery } from '../../outbox/index.ts';
import { decodeBytes } from '../../text/index.ts';
import { urlId } from '../../url/index.ts';
import { judge } from '../doubts.ts';
import { type ServiceAnswer, ServiceClient } from '../http.ts';
import type { BatchEnd, ItemEnd, Outage, Sink } from '../sink.ts';
import { outageOf } from './answers.ts';
import type { BulkItem } from './bulk.ts';
import { BulkSender } from './bulk-sender.ts';
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

const templatePath = '/_index_template/outrider_raw_content';
// Raised with every change of the mapping: an older template is replaced then.
const templateVersion = 1;
const mostHtmlChars = 4_000_000;
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
    const found = await send('GET', templatePath, null, signal);
    if (found.outcome === 'answered' && found.status === 200 && versionOf(found.text) >= templateVersion)
      return null;
    if (found.outcome === 'failed' || (found.status !== 200 && found.status !== 404)) return outageOf(found);
    const made = await send('PUT', templatePath, template(options), signal);
    return made.outcome === 'answered' && made.status < 300 ? null : outageOf(made);
  }

  const sender = new BulkSender((body, signal) => send('POST', bulkPath, body, signal));

  async function deliver(batch: readonly Delivery[], signal: AbortSignal): Promise<BatchEnd> {
    const ends: ItemEnd[] = batch.map(() => ({ end: 'waiting' }));
    const items = await Promise.all(batch.map((one) => bulkItem(one, options.rawHtml)));
    const queued = items.map((item, at) => ({ at, item, isBlamed: batch[at]!.attempts > 0 }));
    const outage = await sender.send(queued, ends, signal);
    return judge(batch, outage === null ? { ends } : { ends, outage }, async () => {
      const found = await send('GET', templatePath, null, signal);
      return found.outcome === 'answered' && found.status === 200;
    });
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
