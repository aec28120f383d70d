import { loadavg } from 'node:os';
import type pg from 'pg';
import { clusterDocuments } from '../src/documents/cluster-documents.ts';
import { SIGNATURE_BANDS } from '../src/extract/index.ts';
import { channelHash, domainIdentity } from '../src/url/index.ts';
import { type Figures, type MeteredClient, measure } from './frontier/meter.ts';
import { startBenchServer } from './frontier/server.ts';
import { readOptions } from './options.ts';

const fresh = 200;

/** What finding the copies of a new document costs, by how many documents there are already. */
export async function run(args: string[]): Promise<object> {
  const { documents } = readOptions(args, {
    documents: ['how many there are already', '10000,100000,1000000'],
  });
  const sizes = documents.split(',').map(Number);
  const server = await startBenchServer();
  try {
    const metered = await server.connect();
    const figures: Record<string, Figures> = {};
    let known = 0;
    for (const size of sizes) {
      await addDocuments(server.admin, known, size);
      known = size;
      // The first brings pages into memory, as the one before it does in a running system.
      for (const round of [0, 1]) {
        const documents = await addFresh(server.admin, `${size}-${round}`);
        figures[size] = await measure(server.admin, metered, () => cluster(metered, documents));
      }
      console.error(`copies: ${size} documents: ${JSON.stringify(figures[size])}`);
    }
    const [first, last] = [figures[sizes[0]!]!, figures[sizes.at(-1)!]!];
    return {
      load: loadavg()[0],
      figures,
      buffersRatio: Number((last.buffersPerUrl / first.buffersPerUrl).toFixed(2)),
    };
  } finally {
    await server.close();
  }
}

type Fresh = { domainKey: bigint; hash: Buffer; text: string };

async function cluster({ client }: MeteredClient, documents: readonly Fresh[]): Promise<{ urls: number }> {
  await client.query('BEGIN');
  await clusterDocuments(client, documents);
  await client.query('COMMIT');
  return { urls: documents.length };
}

/** Signatures and bands of documents that are there already; one in a hundred shares a band with thousands of others. */
async function addDocuments(db: pg.Client, from: number, to: number): Promise<void> {
  console.error(`copies: ${to} documents`);
  await db.query(
    `INSERT INTO document_signatures (bucket, domain_key, url_hash, first_seen_at, signature)
     SELECT (x.key & 255)::smallint, x.key, sha256(x.n::text::bytea), now() - random() * interval '90 days', x.s || x.s || x.s || x.s || x.s || x.s || x.s || x.s
       FROM (SELECT n, hashint8extended(n % 10000, 0) AS key, sha256(('s' || n)::bytea) AS s FROM generate_series($1::bigint, $2::bigint - 1) n) x`,
    [from, to],
  );
  await db.query('ALTER TABLE document_bands DROP CONSTRAINT document_bands_pkey');
  await db.query(
    `INSERT INTO document_bands (bucket, band, first_seen_at, domain_key, url_hash)
     SELECT (b.band & 255)::smallint, b.band, s.first_seen_at, s.domain_key, s.url_hash
       FROM generate_series($1::bigint, $2::bigint - 1) n
       JOIN document_signatures s ON s.bucket = (hashint8extended(n % 10000, 0) & 255)::smallint
        AND s.domain_key = hashint8extended(n % 10000, 0) AND s.url_hash = sha256(n::text::bytea)
      CROSS JOIN generate_series(1, ${SIGNATURE_BANDS}) k
      CROSS JOIN LATERAL (SELECT CASE WHEN k = 1 AND n % 100 = 0 THEN hashint8extended(n % 500, 7) ELSE hashint8extended(n * 100 + k, 1) END AS band) b`,
    [from, to],
  );
  await db.query(
    'ALTER TABLE document_bands ADD PRIMARY KEY (bucket, band, first_seen_at, domain_key, url_hash)',
  );
  await db.query('VACUUM (ANALYZE) document_bands');
  await db.query('VACUUM (ANALYZE) document_signatures');
}

async function addFresh(db: pg.Client, round: string): Promise<Fresh[]> {
  const documents = Array.from({ length: fresh }, (_, n) => {
    const host = `fresh-${round}-${n}.example`;
    const words = Array.from(
      { length: 400 },
      (_, w) => `w${(n * 7919 + w * 104_729 + w * w * (n + 3)) % 5003}`,
    );
    return { ...domainIdentity(host), hash: channelHash(host), text: words.join(' ') };
  });
  await db.query(
    `INSERT INTO documents (bucket, domain_key, url_hash, version, word_count, confidence, first_seen_at, last_seen_at, crawled_at,
       content_hash, page_type, url, text)
     SELECT (k & 255)::smallint, k, h, 1, 400, 1, now(), now(), now(), h, 'article', 'https://fresh.example/', t
       FROM unnest($1::bigint[], $2::bytea[], $3::text[]) AS x(k, h, t)`,
    [
      documents.map((one) => one.domainKey.toString()),
      documents.map((one) => one.hash),
      documents.map((one) => one.text),
    ],
  );
  return documents;
}
