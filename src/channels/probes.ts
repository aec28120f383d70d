import type { Queryable } from '../db/index.ts';
import { loadSources } from '../sources/index.ts';
import { parseUrlId } from '../url/index.ts';
import type { Candidate, Discovery } from './discoveries.ts';
import { findNamedChannel } from './operate.ts';

/** What was found at an address that a search has tried. */
export type ProbedChannel = { kind: 'feed' | 'sitemap'; url: string; title: string | null; entries: number };

/** The feeds and sitemaps among the candidates of a search, as long as their probes are kept (a day). */
async function loadProbedChannels(db: Queryable, candidates: readonly Candidate[]): Promise<ProbedChannel[]> {
  const ids = candidates.flatMap((one) => (one.probe === null ? [] : [parseUrlId(one.probe)!]));
  const result = await db.query<{ result: Partial<ProbedChannel> & { kind: string; url: string } }>(
    `SELECT result FROM probe_results
      WHERE (bucket, domain_key, url_hash) IN (SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::bytea[]))`,
    [ids.map((id) => id.bucket), ids.map((id) => id.domainKey.toString()), ids.map((id) => id.hash)],
  );
  return result.rows.flatMap(({ result: { kind, url, title, entries } }) =>
    kind === 'feed' || kind === 'sitemap' ? [{ kind, url, title: title ?? null, entries: entries ?? 0 }] : [],
  );
}

/** What a search found, and the source that polls it; null: nobody does. */
export type FoundChannel = ProbedChannel & { owner: { slug: string; name: string } | null };

/** The feeds and sitemaps that a search which has ended found. While it goes on, nothing is told. */
export async function loadFoundChannels(
  db: Queryable,
  { state, candidates }: Pick<Discovery, 'state' | 'candidates'>,
): Promise<FoundChannel[]> {
  if (state !== 'found' && state !== 'nothing') return [];
  const found: FoundChannel[] = [];
  for (const one of await loadProbedChannels(db, candidates)) {
    const channel = await findNamedChannel(db, one.url);
    const [owner] = channel === null ? [] : await loadSources(db, [channel.sourceId]);
    found.push({ ...one, owner: owner === undefined ? null : { slug: owner.slug, name: owner.name } });
  }
  return found;
}
