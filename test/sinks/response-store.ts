import { createHash, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { lease, type SettleResponse, settle, submit } from '../../src/frontier/index.ts';
import { identifyUrl } from '../../src/url/index.ts';

/** A response to settle; whatever is left out is plain. */
export type GivenResponse = { url: string; text?: string } & Partial<Omit<SettleResponse, 'url' | 'body'>>;

/** A page of its own for each address and edition. */
export const pageOf = (url: string, edition = 1): string =>
  `<html><p>Edition ${edition} of ${url}</p></html>`;

/** A response as a fetcher hands it over. */
export function responseOf({ url, text, ...more }: GivenResponse): SettleResponse {
  const body = Buffer.from(text ?? pageOf(url));
  const { pathname, host } = new URL(url);
  return {
    id: randomUUID(),
    startedAt: 0,
    status: 200,
    method: 'GET',
    url,
    address: '192.0.2.7',
    truncated: null,
    requestHead: Buffer.from(`GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\n\r\n`),
    responseHead: Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n`),
    body,
    digest: createHash('sha256').update(body).digest(),
    validators: { etag: null, lastModified: null },
    sent: { etag: null, lastModified: null },
    ...more,
  };
}

/** Settles responses domain by domain, as a fetcher does. */
export async function storeResponses(pool: pg.Pool, given: readonly GivenResponse[]): Promise<void> {
  const domains = new Map<bigint, SettleResponse[]>();
  for (const one of given) {
    const identified = identifyUrl(one.url);
    if (identified.outcome === 'rejected') throw new Error(`${one.url} is refused`);
    const { domainKey } = identified.identity;
    domains.set(domainKey, [...(domains.get(domainKey) ?? []), responseOf(one)]);
  }
  const base = { kind: 'article', origin: 'manual', priority: 5, own: true, sourceId: null } as const;
  const due = [...domains.values()].map(([first]) => new URL(`/due/${randomUUID()}`, first!.url).href);
  await submit(
    pool,
    due.map((url) => ({ ...base, url })),
  );
  const owner = 'store';
  const options = { owner, pool: 'default', slots: 500, leaseMs: 60_000, defaultDelayMs: 0, batch: 1 };
  const ended = { status: 'fetched', kind: 'article', dueInMs: null, fetched: true } as const;
  for (const held of await lease(pool, options))
    await settle(pool, held, {
      owner,
      final: true,
      items: held.urls.map(({ hash }) => ({ ...ended, hash })),
      documents: [],
      requests: [],
      responses: domains.get(held.domainKey) ?? [],
      monotonicMs: 0,
      lastAnswerAt: 0,
      defaultDelayMs: 0,
    });
}
