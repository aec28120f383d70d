import { attribute, collapse, copyString, type Page, type PageNode, resolveUrl } from '../html/index.ts';
import { isDecoration, isOfSite } from './decorations.ts';
import type { LdFacts, LdNode } from './json-ld.ts';
import type { MetaTags } from './meta-tags.ts';
import { bestOfSrcset, type Candidate } from './srcset.ts';

/** An image the page shows or declares; the size is what the page says of it, not measured. */
export type PageImage = {
  url: string;
  alt: string | null;
  width: number | null;
  height: number | null;
  from: 'og' | 'jsonld' | 'body';
};

type Found = Omit<PageImage, 'url'> & { reference: string };

const MAX_IMAGES = 50;
const MAX_ALT_CHARS = 500;
// Smaller than this in either direction, a picture in the text is a symbol or a beacon.
const MIN_SIDE_PX = 64;
// Smaller than this it is a portrait or a preview, and comes after the others.
const LEAD_PX = 150;
// Drawings, icons and films: only raster images are kept (spec: documents, images).
const NOT_RASTER = /\.(?:svgz?|ico|cur|pdf|mp4|m4v|webm|mov|ogv|mp3|m3u8)(?:$|[?#])/i;

const MAX_SIZE_CHARS = 40;

function pixels(value: unknown): number | null {
  const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
  const match = text.length > MAX_SIZE_CHARS ? null : /^(\d{1,5})(?:\.\d+)?\s*(?:px|pixels)?$/i.exec(text);
  return match === null || Number(match[1]) === 0 ? null : Number(match[1]);
}

const SRCSETS = ['srcset', 'data-srcset', 'data-lazy-srcset'];
// Full sizes that galleries name come first; `src` of a lazy image is only its placeholder, hence last.
const SOURCES = [
  'data-orig-file',
  'data-large-file',
  'data-hi-res-src',
  'data-src',
  'data-original',
  'data-lazy-src',
  'data-lazy',
  'src',
];

/** The best candidate over the image's own srcset and those of the `<picture>` around it. */
function bestCandidate(image: PageNode): Candidate | null {
  const nodes = [image];
  if (image.parent?.tag === 'picture') {
    for (let at = image.parent.first; at !== null && nodes.length < 20; at = at.next)
      if (at.tag === 'source' && !/svg|video/i.test(attribute(at, 'type') ?? '')) nodes.push(at);
  }
  let best: Candidate | null = null;
  for (const node of nodes) {
    for (const name of SRCSETS) {
      const srcset = attribute(node, name);
      const one = srcset === null ? null : bestOfSrcset(srcset);
      if (one !== null && (best === null || one.size > best.size)) best = one;
    }
  }
  return best;
}

/** An `<img>` with its best address; null for what is too small. */
function readImage(node: PageNode): Found | null {
  const best = bestCandidate(node);
  let reference = best?.url ?? null;
  for (const name of SOURCES) {
    if (reference !== null) break;
    const value = attribute(node, name);
    if (value && !value.startsWith('data:')) reference = value;
  }
  if (reference === null) return null;
  const [width, height] = [pixels(attribute(node, 'width')), pixels(attribute(node, 'height'))];
  if ((width !== null && width < MIN_SIDE_PX) || (height !== null && height < MIN_SIDE_PX)) return null;
  const alt = collapse(attribute(node, 'alt') ?? '').slice(0, MAX_ALT_CHARS);
  return {
    reference,
    alt: alt === '' ? null : copyString(alt),
    ...scaled(width, height, best),
    from: 'body',
  };
}

/** The size of the chosen candidate: its own width where the srcset tells it, in the proportions of the element. */
function scaled(width: number | null, height: number | null, best: Candidate | null) {
  if (best === null || best.width === null) return { width, height };
  const known = width !== null && height !== null;
  return { width: best.width, height: known ? Math.round((best.width * height) / width) : null };
}

/** What og:image and its like declare; sizes and texts belong to the image at the same place in its list. */
function* declaredImages(tags: MetaTags): Generator<Found> {
  const list = (name: string) => tags.lists.get(name) ?? [];
  const images = list('og:image').length > 0 ? list('og:image') : list('og:image:url');
  const secure = list('og:image:secure_url');
  const [widths, heights, alts] = [list('og:image:width'), list('og:image:height'), list('og:image:alt')];
  const at = (values: string[], i: number) =>
    values.length === images.length || i === 0 ? (values[i] ?? null) : null;
  for (let i = 0; i < Math.max(images.length, secure.length); i++) {
    const reference = at(secure, i) ?? images[i];
    if (reference === undefined) continue;
    yield {
      reference,
      alt: at(alts, i),
      width: pixels(at(widths, i)),
      height: pixels(at(heights, i)),
      from: 'og',
    };
  }
  for (const name of ['twitter:image', 'twitter:image:src']) {
    const reference = tags.twitter[name];
    const alt = tags.twitter['twitter:image:alt'] ?? null;
    if (reference !== undefined) yield { reference, alt, width: null, height: null, from: 'og' };
  }
}

function* structuredImages(ld: LdFacts): Generator<Found> {
  const value = ld.main?.image;
  const nodes = (Array.isArray(value) ? value.slice(0, 20) : [value]).filter(
    (one): one is LdNode => one !== null && typeof one === 'object' && !Array.isArray(one),
  );
  for (const reference of ld.images) {
    const node = nodes.find((one) => one.url === reference || one.contentUrl === reference);
    yield {
      reference,
      alt: null,
      width: pixels(node?.width),
      height: pixels(node?.height),
      from: 'jsonld',
    };
  }
}

/** Pictures in the text; those a selector names are taken as they are. */
export type TextImages = { images: PageNode[]; areChosen: boolean };

/** Whether an element a selector names holds the address of a picture. */
export function isPicture(node: PageNode, page: Page): boolean {
  const image = readImage(node);
  return image !== null && addressOf(image, page) !== null;
}

function addressOf({ reference }: Found, page: Page): string | null {
  const url = resolveUrl(reference, page.baseUrl);
  return url === null || NOT_RASTER.test(url) ? null : url;
}

/** Lists the declared images and those inside the article, the lead image first; nothing is fetched. */
export function listImages(page: Page, tags: MetaTags, ld: LdFacts, inText: TextImages): PageImage[] {
  const found = new Map<string, PageImage>();
  const add = (url: string, { reference: _, ...image }: Found) => {
    const known = found.get(url);
    if (known !== undefined) {
      // The same picture again, which may say more of itself in the text than in the head.
      known.alt ??= image.alt;
      if (known.width === null) [known.width, known.height] = [image.width, image.height];
    } else if (found.size < MAX_IMAGES) found.set(copyString(url), { url: copyString(url), ...image });
  };
  const ofSite: [string, Found][] = [];
  for (const image of [...declaredImages(tags), ...structuredImages(ld)]) {
    const url = addressOf(image, page);
    if (url === null) continue;
    if (isOfSite(url, image.width)) ofSite.push([url, image]);
    else add(url, image);
  }
  const small: [string, Found][] = [];
  for (const node of inText.images) {
    const image = readImage(node);
    const url = image === null ? null : addressOf(image, page);
    if (url === null || image === null) continue;
    if (inText.areChosen) add(url, image);
    else if (decorates(url, image)) continue;
    else if (image.width !== null && image.width < LEAD_PX) small.push([url, image]);
    else add(url, image);
  }
  // Sites without a picture for an article declare their logo; an article about a logo may have nothing else.
  for (const [url, image] of [...small, ...ofSite]) add(url, image);
  return [...found.values()];
}

/** Whether a picture only decorates. Photographs are no GIFs, and a film in one says how large it is. */
function decorates(url: string, { width, height }: Found): boolean {
  return (width === null && /\.gif(?:$|[?#])/i.test(url)) || isDecoration(url, width, height);
}
