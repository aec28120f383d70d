import type { SubmitItem } from '../frontier/index.ts';
import { header, type Ingested, type IngestSettings, type PageResponse } from './response.ts';
import { SeenAddresses } from './seen.ts';
import { readSitemapChannel } from './sitemap.ts';

/** Whether a page that archive discovery asked for is a sitemap: of a domain without a source, which has no channels. */
export function isArchivedSitemap(response: PageResponse): boolean {
  if (response.row.origin !== 'archive') return false;
  return !/^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(
    header(response, 'content-type') ?? 'text/html',
  );
}

/** A sitemap that is read once: all it lists is archive, and the files of an index are read in the same way. */
export async function ingestArchivedSitemap(
  response: PageResponse,
  settings: IngestSettings,
): Promise<Ingested> {
  const found: SubmitItem[] = [];
  const sink = {
    submit: async (items: SubmitItem[]) => found.push(...items),
    seen: new SeenAddresses(null),
  };
  const whole = (async function* () {
    yield response.body;
  })();
  const read = await readSitemapChannel(whole, response, { ...settings, isArchive: true }, sink);
  if (read.outcome !== 'channel') return read;
  const { error, detail, files } = read.reading;
  if (error !== null) return { outcome: 'rejected', reason: 'no_listing', detail: detail ?? 'no sitemap' };
  const { row } = response;
  for (const { url } of row.depth === 0 ? (files ?? []) : [])
    found.push({
      url,
      kind: 'listing',
      origin: 'archive',
      sourceId: row.sourceId,
      priority: 1,
      depth: 1,
      parentUrl: response.finalUrl,
      own: true,
    });
  return { outcome: 'links', page: null, found };
}
