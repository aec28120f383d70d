import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { contentHash } from '../../src/extract/index.ts';
import { lease, type SettleDocument, settle, submit } from '../../src/frontier/index.ts';
import { identifyUrl, urlId } from '../../src/url/index.ts';

/** A document to store; whatever is left out is plain. */
export type Given = { url: string; text?: string } & Partial<Omit<SettleDocument, 'url' | 'text' | 'hash'>>;

const ownIdentity = (url: string) => {
  const identified = identifyUrl(url);
  if (identified.outcome === 'rejected') throw new Error(`${url} is refused: ${identified.reason}`);
  return identified.identity;
};

/** The id of the document at an address. */
export const idOf = (url: string): string => {
  const { domainKey, hash } = ownIdentity(url);
  return urlId(domainKey, hash);
};

/** A text of its own for each address and edition, long enough to be an article. */
export const textOf = (url: string, edition = 1): string =>
  Array.from({ length: 12 }, (_, n) => `Sentence ${n} of edition ${edition} of what ${url} has to say.`).join(
    ' ',
  );

/** Stores documents in settles of their domains, as a fetcher does; an address may be stored again. */
export async function storeDocuments(pool: pg.Pool, documents: readonly Given[]): Promise<void> {
  const domains = new Map<bigint, Given[]>();
  for (const one of documents) {
    const { domainKey } = ownIdentity(one.url);
    domains.set(domainKey, [...(domains.get(domainKey) ?? []), one]);
  }
  const base = { kind: 'article', origin: 'manual', priority: 5, own: true } as const;
  // A lease needs a URL that is due; the documents come as the ends of redirects, which may be settled at any time.
  const due = [...domains.values()].map(([first]) => new URL(`/due/${randomUUID()}`, first!.url).href);
  await submit(
    pool,
    due.map((url) => ({ ...base, url, sourceId: null })),
  );
  const owner = 'store';
  const options = { owner, pool: 'default', slots: 500, leaseMs: 60_000, defaultDelayMs: 0, batch: 1 };
  for (const held of await lease(pool, options)) {
    const given = domains.get(held.domainKey) ?? [];
    const ended = { status: 'fetched', kind: 'article', dueInMs: null, fetched: true } as const;
    const target = { ...base, level: 5, depth: 0, hops: 1, parentUrl: null, executionId: null };
    await settle(pool, held, {
      owner,
      final: true,
      items: [
        ...held.urls.map(({ hash }) => ({ ...ended, hash })),
        ...given.map(({ url, sourceId = null }) => ({
          ...ended,
          hash: ownIdentity(url).hash,
          target: { ...target, url, sourceId },
        })),
      ],
      documents: given.map(documentOf),
      requests: [],
      monotonicMs: 0,
      lastAnswerAt: 0,
      defaultDelayMs: 0,
    });
  }
}

function documentOf({ url, text = textOf(url), ...more }: Given): SettleDocument {
  return {
    hash: ownIdentity(url).hash,
    url,
    sourceId: null,
    wordCount: text.split(/\s+/).length,
    confidence: 1,
    publishedAt: new Date('2026-11-01T10:00:00Z'),
    modifiedAt: null,
    contentHash: contentHash(text),
    pageType: 'article',
    language: 'en',
    canonicalUrl: url,
    title: `What ${url} says`,
    section: null,
    description: null,
    leadImage: null,
    authors: ['Ada Writer'],
    keywords: ['one', 'two'],
    meta: {},
    text,
    raw: {
      body: Buffer.from(`<html><p>${text}`),
      encoding: 'identity',
      contentType: 'text/html; charset=utf-8',
    },
    ...more,
  };
}
