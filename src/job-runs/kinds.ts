import { openBlobStore } from '../blobs/index.ts';
import { findDiscovery, importSources, startDiscovery } from '../channels/index.ts';
import { discoverArchives } from '../discover/index.ts';
import { recalculatePart } from '../domains/index.ts';
import { identifyKnown, loadUrl, submit } from '../frontier/index.ts';
import { checkImportList, type JobKind, readImportList, refreshArticles, saveBegun } from '../jobs/index.ts';
import { loadSources, type Source } from '../sources/index.ts';
import { identifyUrl } from '../url/index.ts';
import { housekeep } from './housekeep.ts';
import { checkSignal, type KindOfRun, type Run } from './run.ts';

/** How each kind of job is run. */
export const kinds: Readonly<Record<JobKind, KindOfRun>> = {
  crawl: { begin: beginCrawl, waits: 'rows', judge: judgeCrawl, adaptive: true },
  refresh: { begin: beginRefresh, waits: 'rows' },
  discover: { begin: beginSearch, waits: isSearchOver },
  recalculate: { begin: recalculate },
  prune: { begin: prune },
  import: { begin: importList },
};

async function sourceOf({ job, database }: Run): Promise<Source> {
  const [source] = job.sourceId === null ? [] : await loadSources(database.pool, [job.sourceId]);
  if (source === undefined) throw new Error('its source is gone');
  return source;
}

async function entryOf(run: Run): Promise<{ source: Source; url: string }> {
  const source = await sourceOf(run);
  return { source, url: run.job.url ?? source.url };
}

/** The front page is fetched anew, whatever its age; fetchers follow its links under this execution. */
async function beginCrawl(run: Run): Promise<Record<string, unknown>> {
  const { job, database } = run;
  const { source, url } = await entryOf(run);
  const [result] = await submit(database.pool, [
    {
      url,
      kind: 'listing',
      origin: 'manual',
      sourceId: source.id,
      priority: source.priority,
      depth: 0,
      executionId: job.executionId,
      refetchBefore: job.startedAt,
      own: true,
    },
  ]);
  const { answer } = result!;
  if (answer.startsWith('rejected:')) throw new Error(`${url} cannot be crawled (${answer.slice(9)})`);
  // A second begin meets the row of the first.
  if (answer === 'duplicate' && !(await isOwnEntry(run, url)))
    throw new Error(`${url} is not fetched again: it was removed, or waits for something else`);
  await run.say('queue', `begins at ${url}`, { detail: { url, answer } });
  return { entry: url };
}

async function loadEntry(run: Run, url: string) {
  const identified = await identifyKnown(run.database.pool, url);
  if (identified.outcome === 'rejected') return null;
  const { bucket, domainKey, hash } = identified.identity;
  return loadUrl(run.database.pool, { bucket, domainKey, hash });
}

async function isOwnEntry(run: Run, url: string): Promise<boolean> {
  const identified = await identifyKnown(run.database.pool, url);
  if (identified.outcome === 'rejected') return false;
  const { bucket, domainKey, hash } = identified.identity;
  const found = await run.database.pool.query(
    'SELECT FROM url_frontier WHERE bucket = $1 AND domain_key = $2 AND url_hash = $3 AND execution_id = $4',
    [bucket, domainKey.toString(), hash, run.job.executionId.toString()],
  );
  return found.rowCount === 1;
}

/** A crawl that saw no page at all has failed, and its entry says why. */
async function judgeCrawl(run: Run): Promise<string | null> {
  const { database, job } = run;
  const pages = await database.pool.query<{ pages: number }>(
    `SELECT coalesce(sum(o.count::integer), 0)::integer AS pages
       FROM job_executions e CROSS JOIN jsonb_each_text(coalesce(e.metadata -> 'outcomes', '{}')) AS o(name, count)
      WHERE e.id = $1 AND (o.name ~ '^http_[23]' OR o.name = 'not_modified')`,
    [job.executionId.toString()],
  );
  if (pages.rows[0]!.pages > 0) return null;
  const { url } = await entryOf(run);
  const entry = await loadEntry(run, url);
  const why = entry?.errorText ?? entry?.errorCode ?? 'nothing was answered';
  return `no page of ${url} could be read: ${why}`;
}

/** Known articles of the source's domain are asked whether they have changed. */
async function beginRefresh(run: Run): Promise<Record<string, unknown>> {
  const { job, database, config } = run;
  const { url } = await entryOf(run);
  const identified = identifyUrl(url);
  if (identified.outcome === 'rejected') throw new Error(`${url} has no domain (${identified.reason})`);
  const { bucket, domainKey, domain } = identified.identity;
  const limit = job.maxPages ?? (config.domains.maxPagesPerRun || 10_000);
  const due = await refreshArticles(database.pool, job.executionId, { bucket, domainKey, limit });
  await run.say('queue', `${due} known articles of ${domain} are due now`, { detail: { domain, due } });
  return { domain, due };
}

/** Archives of a source that is followed by links; of one that is polled, what could be polled. */
async function beginSearch(run: Run): Promise<Record<string, unknown>> {
  const { database, config, log } = run;
  const source = await sourceOf(run);
  if (source.ingestionMode === 'feed') {
    await startDiscovery(database.pool, source.id);
    await run.say('queue', `looks for channels of ${source.slug}`);
    return { source: source.slug };
  }
  const identified = identifyUrl(run.job.url ?? source.url);
  if (identified.outcome === 'rejected')
    throw new Error(`${source.url} has no domain (${identified.reason})`);
  const deps = {
    db: database.pool,
    log,
    sitemapIntervalSeconds: config.polling.sitemapIntervalMinutes * 60,
  };
  const { bucket, domainKey, domain } = identified.identity;
  const look = await discoverArchives(deps, { bucket, domainKey, sourceId: source.id });
  if (look === null) throw new Error(`${domain} is not known yet: crawl the source first`);
  for (const { url, state, detail } of look.ended)
    await run.say('queue', `${url} ${state}${detail === null ? '' : `: ${detail}`}`);
  for (const { url } of look.asked) await run.say('queue', `${url} is asked when nothing better waits`);
  if (look.asked.length === 0)
    await run.say('queue', look.because ?? 'nothing is left to ask, or the five of today are used');
  return { domain, asked: look.asked.length, ended: look.ended.length };
}

async function isSearchOver(run: Run): Promise<boolean> {
  if ((await sourceOf(run)).ingestionMode !== 'feed') return true;
  const search = run.job.sourceId === null ? null : await findDiscovery(run.database.pool, run.job.sourceId);
  if (search !== null && search.state !== 'found' && search.state !== 'nothing') {
    if (!search.overdue) return false;
    await run.say('queue', 'its site has not answered for an hour; the search goes on without this run');
    return true;
  }
  const found = search?.candidates.filter((one) => one.outcome === 'feed' || one.outcome === 'sitemap') ?? [];
  await run.say(
    'queue',
    `${search?.candidates.length ?? 0} addresses were tried, ${found.length} are channels`,
    {
      detail: { channels: found.map((one) => one.url).slice(0, 20) },
    },
  );
  return true;
}

const partMs = 1000;

/** Bucket by bucket; whoever takes it over goes on where it stood. */
async function recalculate(run: Run): Promise<Record<string, unknown>> {
  const { database, job } = run;
  const sums = { scored: 0, domains: 0, repaired: 0, leased: 0, counts: 0 };
  for (let from: number | null = Number(job.progress.nextBucket ?? 0); from !== null; ) {
    checkSignal(run);
    const part: Awaited<ReturnType<typeof recalculatePart>> = await recalculatePart(database.pool, {
      from,
      forMs: partMs,
    });
    for (const name of ['scored', 'domains', 'repaired', 'leased', 'counts'] as const)
      sums[name] += part.report[name];
    from = part.next;
    if (from !== null) await saveBegun(database.pool, job.executionId, { nextBucket: from });
  }
  await run.say('metrics', `${sums.domains} domains looked at, ${sums.repaired} repaired`, { detail: sums });
  return sums;
}

async function prune(run: Run): Promise<Record<string, unknown>> {
  const blobs = openBlobStore(run.config);
  try {
    const pruned = await housekeep({ ...run, blobs });
    await run.say('metrics', 'everything past its retention was deleted', { detail: pruned });
    return pruned;
  } finally {
    await blobs.close();
  }
}

/** Sources and channels are known by their addresses: begun again, it adds what is missing. */
async function importList(run: Run): Promise<Record<string, unknown>> {
  const { job, database, config } = run;
  const entries = readImportList(await checkImportList(job.metadata));
  async function* untilStopped() {
    for await (const entry of entries) {
      checkSignal(run);
      yield entry;
    }
  }
  const { badLines, ...report } = await importSources(database, untilStopped(), {
    actor: `job ${job.id}`,
    sitemapIntervalSeconds: config.polling.sitemapIntervalMinutes * 60,
  });
  for (const { line, reason } of badLines.slice(0, 20))
    await run.say('error', `line ${line}: ${reason}`, { level: 'warn' });
  await run.say('metrics', `${report.added} sources added, ${report.known} known, ${report.bad} refused`, {
    detail: report,
  });
  return report;
}
