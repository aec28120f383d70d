import { attribute, collapse, copyString, type Page, type PageNode, resolveUrl } from '../html/index.ts';
import type { LdFacts } from './json-ld.ts';
import { firstOf, type MetaTags } from './meta-tags.ts';

/** An image the page shows or declares. */
export type PageImage = {
  url: string;
  alt: string | null;
  width: number | null;
  height: number | null;
  from: 'og' | 'jsonld' | 'body';
};

const MAX_IMAGES = 50;
const DECORATION =
  /(?:^|[/_.-])(?:logo|icon|sprite|avatar|pixel|spacer|blank|badge|button|emoji|spinner|loading|placeholder|1x1)s?(?:[/_.\-0-9]|$)/i;

/** The candidate of a srcset with the most pixels; commas inside addresses are kept. */
export function bestOfSrcset(srcset: string): string | null {
  let best: string | null = null;
  let bestSize = -1;
  // A candidate ends at a comma that follows a descriptor or white space (HTML standard, 4.8.4.2.1).
  for (const match of srcset
    .slice(0, 20_000)
    .matchAll(/([^\s,]\S*[^\s,]|[^\s,])(?:\s+([\d.]+)([wx]))?\s*(?:,|$)/g)) {
    const size = match[2] === undefined ? 1 : Number(match[2]) * (match[3] === 'x' ? 1_000 : 1);
    if (size > bestSize) {
      bestSize = size;
      best = match[1] ?? null;
    }
  }
  return best;
}

function pixels(value: string | null | undefined): number | null {
  const match = /^\s*(\d{1,5})(?:\.\d+)?(?:px)?\s*$/.exec(value ?? '');
  return match === null ? null : Number(match[1]);
}

function sourceOf(image: PageNode): string | null {
  let srcset =
    attribute(image, 'srcset') || attribute(image, 'data-srcset') || attribute(image, 'data-lazy-srcset');
  if (!srcset && image.parent?.tag === 'picture') {
    for (let source = image.parent.first; source !== null && !srcset; source = source.next) {
      if (source.tag === 'source') srcset = attribute(source, 'srcset') || attribute(source, 'data-srcset');
    }
  }
  const best = srcset ? bestOfSrcset(srcset) : null;
  if (best !== null && !best.startsWith('data:')) return best;
  for (const name of ['data-src', 'data-original', 'data-lazy-src', 'data-hi-res-src', 'src']) {
    const value = attribute(image, name);
    if (value && !value.startsWith('data:')) return value;
  }
  return null;
}

/** Lists the declared images and those inside the article; nothing is fetched. */
export function listImages(page: Page, tags: MetaTags, ld: LdFacts, inBody: PageNode[]): PageImage[] {
  const found = new Map<string, PageImage>();
  const add = (reference: string | null | undefined, image: Omit<PageImage, 'url'>) => {
    if (!reference || found.size >= MAX_IMAGES) return;
    const url = resolveUrl(reference, page.baseUrl);
    if (url === null || found.has(url)) return;
    found.set(copyString(url), { url: copyString(url), ...image });
  };
  const og = firstOf(tags, [
    'og:image:secure_url',
    'og:image',
    'og:image:url',
    'twitter:image',
    'twitter:image:src',
  ]);
  const alt = firstOf(tags, ['og:image:alt', 'twitter:image:alt'])?.value ?? null;
  add(og?.value, {
    alt,
    width: pixels(tags.openGraph['og:image:width']),
    height: pixels(tags.openGraph['og:image:height']),
    from: 'og',
  });
  for (const other of tags.lists.get('og:image') ?? [])
    add(other, { alt: null, width: null, height: null, from: 'og' });
  for (const url of ld.images) add(url, { alt: null, width: null, height: null, from: 'jsonld' });
  for (const node of inBody) {
    const source = sourceOf(node);
    const width = pixels(attribute(node, 'width'));
    const height = pixels(attribute(node, 'height'));
    if (
      source === null ||
      DECORATION.test(source) ||
      (width !== null && width < 64) ||
      (height !== null && height < 64)
    )
      continue;
    const text = collapse(attribute(node, 'alt') ?? '').slice(0, 500);
    add(source, { alt: text === '' ? null : copyString(text), width, height, from: 'body' });
  }
  return [...found.values()];
}
