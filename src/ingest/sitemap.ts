import { parseSitemap } from '../feed-formats/index.ts';
import { registrableDomain } from '../url/index.ts';
import { entrySubmitter, failedReading, latest } from './feed.ts';
import { header, type Ingested, type IngestSettings, type PageResponse } from './response.ts';

// Entries without a date: the newest of them stand first in most files.
const mostUndated = 100;
const mostChildren = 10;

/** A sitemap: fresh entries of its own site are submitted; an index names further files. */
export async function ingestSitemap(response: PageResponse, settings: IngestSettings): Promise<Ingested> {
  const contentType = header(response, 'content-type');
  const sitemap = await parseSitemap(response.body, {
    url: response.finalUrl,
    ...(contentType === undefined ? {} : { contentType }),
  });
  if (sitemap.kind === 'error') {
    return {
      outcome: 'channel',
      reading: failedReading(`not a sitemap: ${sitemap.error ?? 'unknown form'}`),
      found: [],
    };
  }
  const site = registrableDomain(new URL(response.finalUrl).hostname);
  const ofThisSite = sitemap.entries.filter(
    (entry) => registrableDomain(new URL(entry.loc).hostname) === site,
  );
  const oldest = settings.nowMs - settings.sitemapMaxAgeMs;
  const reading = {
    ...failedReading(''),
    error: null,
    detail: null,
    format: `sitemap ${sitemap.kind}`,
    skipped: sitemap.invalid + sitemap.entries.length - ofThisSite.length,
    lastItemAt: latest(
      ofThisSite.map((entry) => entry.lastModified),
      settings.nowMs,
    ),
  };
  if (sitemap.kind === 'index') {
    const fresh = ofThisSite.filter(
      (entry) => entry.lastModified === null || entry.lastModified.getTime() >= oldest,
    );
    fresh.sort((a, b) => (b.lastModified?.getTime() ?? 0) - (a.lastModified?.getTime() ?? 0));
    return {
      outcome: 'channel',
      reading: { ...reading, children: fresh.slice(0, mostChildren).map((entry) => entry.loc) },
      found: [],
    };
  }
  const submitEntry = entrySubmitter(response, settings, 'sitemap');
  const dated = ofThisSite.filter(
    (entry) => entry.lastModified !== null && entry.lastModified.getTime() >= oldest,
  );
  const undated = ofThisSite.filter((entry) => entry.lastModified === null).slice(0, mostUndated);
  const found = [...dated, ...undated].flatMap((entry) => submitEntry(entry.loc, entry.lastModified));
  return { outcome: 'channel', reading, found };
}
