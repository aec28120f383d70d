import { ingestArchivedSitemap, isArchivedSitemap } from './archived-sitemap.ts';
import { ingestArticle } from './article.ts';
import { ingestFeed } from './feed.ts';
import { ingestImage } from './images.ts';
import { ingestListing, ingestPageChannel } from './links.ts';
import { ingestProbe } from './probe.ts';
import type { Ingested, IngestSettings, PageResponse } from './response.ts';

/** One handler per kind: this is where a response becomes a document, links, or a channel's news. */
export async function handleResponse(response: PageResponse, settings: IngestSettings): Promise<Ingested> {
  switch (response.row.kind) {
    case 'article':
      return ingestArticle(response, settings);
    case 'listing':
      return isArchivedSitemap(response)
        ? ingestArchivedSitemap(response, settings)
        : ingestListing(response, settings);
    case 'channel':
      return settings.channel?.kind === 'page'
        ? ingestPageChannel(response, settings)
        : ingestFeed(response, settings);
    case 'probe':
      return ingestProbe(response);
    case 'image':
      return ingestImage(response, settings);
  }
}
