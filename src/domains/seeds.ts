import type { Queryable } from '../db/index.ts';
import { decidePriority, submit } from '../frontier/index.ts';
import { listSources } from '../sources/index.ts';
import { identifyUrl } from '../url/index.ts';
import { parseSeedLine, readLines, type Seed } from './seed-lines.ts';

/** What became of a list of seeds. */
export type SeedReport = {
  lines: number;
  /** Different domains of each batch, summed. */
  domains: number;
  /** Entered as pending. */
  added: number;
  /** Known before: they keep their state. */
  known: number;
  /** Entry URLs that went into the frontier. */
  submitted: number;
  bad: number;
  /** The first hundred bad lines. */
  badLines: { number: number; reason: string }[];
};

export type SeedOptions = {
  /** Name of the list, as tranco_20260205. */
  dataset: string;
  /** Called after every batch. */
  onProgress?: (report: Readonly<SeedReport>) => void;
};

// Sorted by rank before it is submitted: ranked lists are sorted as a whole, unsorted ones nearly so.
const sortedAtOnce = 10_000;
const submittedAtOnce = 500;
const mostBadLines = 100;
const base = 5;

/**
 * Enters listed domains, a million lines in bounded memory. New ones are pending with their entry URL submitted, best
 * rank first; known ones learn rank and list and keep their state. Run twice, the second time does nothing.
 */
export async function seedDomains(
  db: Queryable,
  chunks: AsyncIterable<string> | Iterable<string>,
  options: SeedOptions,
): Promise<SeedReport> {
  const report: SeedReport = { lines: 0, domains: 0, added: 0, known: 0, submitted: 0, bad: 0, badLines: [] };
  const sources = await loadSourceDomains(db);
  let batch = new Map<bigint, Seed>();
  const flush = async (): Promise<void> => {
    const seeds = [...batch.values()].sort((a, b) => rankOf(a) - rankOf(b));
    batch = new Map();
    for (let start = 0; start < seeds.length; start += submittedAtOnce) {
      await seedBatch(db, seeds.slice(start, start + submittedAtOnce), sources, options.dataset, report);
      options.onProgress?.(report);
    }
  };
  for await (const { number, text } of readLines(chunks)) {
    report.lines = number;
    const parsed = parseSeedLine(text);
    if (parsed.outcome === 'bad') {
      report.bad += 1;
      if (report.badLines.length < mostBadLines) report.badLines.push({ number, reason: parsed.reason });
    } else if (parsed.outcome === 'seed') {
      const other = batch.get(parsed.seed.domainKey);
      if (other === undefined || rankOf(parsed.seed) < rankOf(other))
        batch.set(parsed.seed.domainKey, parsed.seed);
      if (batch.size >= sortedAtOnce) await flush();
    }
  }
  await flush();
  return report;
}

const rankOf = (seed: Seed): number => seed.rank ?? 1_000_000;

async function seedBatch(
  db: Queryable,
  seeds: readonly Seed[],
  sources: ReadonlyMap<bigint, number>,
  dataset: string,
  report: SeedReport,
): Promise<void> {
  const rows = seeds.map((seed, ord) => ({
    ord,
    bucket: seed.bucket,
    domain_key: seed.domainKey.toString(),
    domain: seed.domain,
    parent_domain: seed.parentDomain,
    rank: seed.rank,
  }));
  const result = await db.query<{ ord: number; is_new: boolean; needs_entry: boolean }>(
    'SELECT ord, is_new, needs_entry FROM domain_seed($1, $2) ORDER BY ord',
    [JSON.stringify(rows), dataset],
  );
  const entries = result.rows.filter((row) => row.needs_entry).map((row) => seeds[row.ord]!);
  const priority = decidePriority({ base, origin: 'spider', kind: 'listing', depth: 0, external: false });
  const answers = await submit(
    db,
    entries.map((seed) => ({
      url: seed.entryUrl,
      kind: 'listing',
      origin: 'spider',
      sourceId: sources.get(seed.domainKey) ?? null,
      priority,
      depth: 0,
      own: true,
    })),
  );
  const added = result.rows.filter((row) => row.is_new).length;
  report.domains += result.rows.length;
  report.added += added;
  report.known += result.rows.length - added;
  report.submitted += answers.filter((one) => one.answer === 'inserted').length;
}

/** Which source a domain belongs to: the first that was added for it. */
async function loadSourceDomains(db: Queryable): Promise<Map<bigint, number>> {
  const domains = new Map<bigint, number>();
  for (let afterId = 0; ; ) {
    const page = await listSources(db, { limit: 1000, afterId });
    for (const source of page) {
      const identified = identifyUrl(source.url);
      if (identified.outcome === 'ok' && !domains.has(identified.identity.domainKey))
        domains.set(identified.identity.domainKey, source.id);
    }
    const last = page.at(-1);
    if (last === undefined) return domains;
    afterId = last.id;
  }
}
