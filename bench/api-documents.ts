import type pg from 'pg';
import { randomFrom } from '../test/web/random.ts';

const vocabulary = 30_000;
const wordsPerText = 400;
const portion = 2000;

/** The word of a rank; 1 is the commonest. */
export function wordOf(rank: number): string {
  const letters = 'etaoinshrdlucmfwypvbgkjqxz';
  let word = '';
  for (let n = rank * 7919 + 31; n > 0; n = Math.floor(n / letters.length))
    word += letters[n % letters.length];
  return `${word}${'ae'[rank % 2]}`;
}

/**
 * Fills documents and the index with texts of 400 words, from a thousand sources over thirty days. As in a language, the
 * word of rank r is about as frequent as 1/r: the commonest stand in every text, most in hardly any.
 */
export async function loadDocuments(db: pg.Client, documents: number): Promise<void> {
  const words = Array.from({ length: vocabulary }, (_, n) => wordOf(n + 1));
  const random = randomFrom(29);
  const nextWord = (): string => words[Math.ceil(vocabulary ** random.next()) - 1] ?? words[0]!;
  const nextText = (): string => Array.from({ length: wordsPerText }, nextWord).join(' ');
  await db.query(`INSERT INTO sources (slug, name, url)
    SELECT 'source_' || n, 'Source ' || n, 'https://source-' || n || '.example/' FROM generate_series(1, 1000) n`);
  for (let from = 0; from < documents; from += portion) {
    const numbers = Array.from({ length: Math.min(portion, documents - from) }, (_, n) => from + n);
    await db.query(
      `INSERT INTO documents (bucket, domain_key, url_hash, source_id, version, word_count, confidence, first_seen_at, last_seen_at,
         crawled_at, published_at, content_hash, page_type, language, url, title, text)
       SELECT d.bucket, d.domain_key, sha256(x.n::text::bytea), 1 + x.n % 1000, 1, ${wordsPerText}, 1, x.at, x.at, x.at, x.at,
              sha256(('t' || x.n)::bytea), 'article', CASE WHEN x.n % 5 = 0 THEN 'de' ELSE 'en' END,
              'https://' || d.name || '/news/' || x.n, substring(x.text for 60), x.text
         FROM (SELECT x.*, now() - random() * interval '30 days' AS at FROM unnest($1::integer[], $2::text[]) AS x(n, text)) x
         JOIN bench_domains d ON d.id = x.n % (SELECT count(*) FROM bench_domains)`,
      [numbers, numbers.map(nextText)],
    );
    if ((from + portion) % 20_000 === 0) console.error(`api: ${from + portion} documents`);
  }
  await db.query('DROP INDEX document_search_words');
  await db.query(`INSERT INTO document_search (bucket, domain_key, url_hash, version, crawled_at, dated_at, source_id, language, words)
    SELECT bucket, domain_key, url_hash, version, crawled_at, coalesce(published_at, crawled_at), source_id, left(language, 2),
           setweight(to_tsvector('simple', title), 'A') || to_tsvector('simple', text) || setweight(to_tsvector('english', title), 'A')
             || to_tsvector('english', text) FROM documents`);
  await db.query('CREATE INDEX document_search_words ON document_search USING gin (words)');
  for (const table of ['documents', 'document_search', 'sources'])
    await db.query(`VACUUM (ANALYZE) ${table}`);
}
