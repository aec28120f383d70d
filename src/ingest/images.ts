import { createHash } from 'node:crypto';
import type { PageImage } from '../extract/index.ts';
import type { SubmitItem } from '../frontier/index.ts';
import { readImage } from '../image-formats/index.ts';
import { identifyUrl } from '../url/index.ts';
import type { ImageMode, ImageSettings, Ingested, IngestSettings, PageResponse } from './response.ts';

const defaults: ImageSettings = { mode: 'reference', maxPerPage: 10, minSide: 256, maxPixels: 100_000_000 };

// The lowest there is: an image never goes before a page.
const imagePriority = 1;

/** What is done with the images of a row's pages: as its source says, else as configured. */
export const imageModeOf = (settings: Pick<IngestSettings, 'source' | 'images'>): ImageMode =>
  settings.source?.settings.images ?? (settings.images ?? defaults).mode;

/** The images of an article that are fetched, the lead image first: each address once, none that says it is too small. */
export function findImages(
  images: readonly PageImage[],
  response: PageResponse,
  settings: IngestSettings,
): SubmitItem[] {
  if (imageModeOf(settings) !== 'store') return [];
  const { maxPerPage, minSide } = settings.images ?? defaults;
  const page = identifyUrl(response.finalUrl);
  if (page.outcome === 'rejected') return [];
  const { row } = response;
  const seen = new Set([page.identity.hash.toString('hex')]);
  const found: SubmitItem[] = [];
  for (const { url, width, height } of images) {
    if (found.length === maxPerPage) break;
    if ((width !== null && width < minSide) || (height !== null && height < minSide)) continue;
    const identified = identifyUrl(url);
    if (identified.outcome === 'rejected') continue;
    const { identity } = identified;
    const key = identity.hash.toString('hex');
    if (seen.has(key)) continue;
    seen.add(key);
    const registrable = page.identity.registrableDomain ?? page.identity.domain;
    found.push({
      url: identity.fetchUrl,
      kind: 'image',
      origin: 'spider',
      sourceId: row.sourceId,
      priority: imagePriority,
      depth: row.depth,
      parentUrl: response.finalUrl,
      own: (identity.registrableDomain ?? identity.domain) === registrable,
    });
  }
  return found;
}

/** An image: what its bytes say it is. Without `decode` only its header is read, which takes no time. */
export async function ingestImage(
  response: PageResponse,
  settings: IngestSettings,
  { decode = true } = {},
): Promise<Ingested> {
  const reading = await readImage(response.body, { ...(settings.images ?? defaults), decode });
  if (reading.outcome === 'rejected') return reading;
  const sha256 = createHash('sha256').update(response.body).digest();
  return { outcome: 'image', sha256, facts: reading.facts };
}
