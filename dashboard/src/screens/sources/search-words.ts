import { plural } from '../../parts/format.ts';
import type { Tone } from '../../parts/tones.ts';
import type { SourceCard } from './source-words.ts';

/** A search for feeds. */
export type Search = NonNullable<SourceCard['discovery']>;
type Candidate = Search['candidates'][number];

const reasons: Readonly<Record<string, string>> = {
  dns: 'no such host is known',
  connect: 'nothing answers there',
  tls: 'its certificate is not accepted',
  timeout: 'it did not answer in time',
  reset: 'it broke the connection off',
  refused_address: 'its address is a private one; the setting fetch.allow_networks can allow it',
  refused_port: 'its port is not one that is crawled',
  robots_unavailable: 'its robots.txt cannot be read, so nothing else may be',
  robots_blocked: 'its robots.txt does not want us there',
  http_401: 'it asks for a login (401)',
  http_403: 'it refuses us (403)',
  http_404: 'there is no such page (404)',
  http_410: 'the page is gone (410)',
  body_too_large: 'it is too large',
};

const kinds: Readonly<Record<string, string>> = {
  feed: 'a feed',
  sitemap: 'a sitemap',
  page: 'a page',
  redirect: 'it leads elsewhere',
};

/** What came of an address that was tried. */
export function outcomeText(outcome: string | null): string {
  if (outcome === null) return 'waiting for an answer';
  const status = /^http_(\d+)$/.exec(outcome)?.[1];
  return (
    kinds[outcome] ??
    reasons[outcome] ??
    (status === undefined ? outcome.replaceAll('_', ' ') : `it answered ${status}`)
  );
}

/** How good that is. Most guesses lead nowhere, and nobody has to mind. */
export function outcomeTone({ outcome, by }: Candidate): Tone {
  if (outcome === null) return 'info';
  if (outcome === 'feed' || outcome === 'sitemap') return 'ok';
  return by === 'page' && outcome !== 'page' && outcome !== 'redirect' ? 'fail' : 'quiet';
}

/** Why an address was tried. */
export const byTexts: Readonly<Record<string, string>> = {
  page: 'the address itself',
  link: 'the page names it',
  path: 'a usual place',
  robots: 'robots.txt names it',
  known: 'it was there before',
};

/** Whether a search goes on. */
export const isOpen = (search: Search | null): boolean =>
  search !== null && search.state !== 'found' && search.state !== 'nothing';

const stateTexts: Readonly<Record<Search['state'], string>> = {
  pending: 'The search begins in a moment.',
  page: 'The page is being asked for.',
  candidates: 'Addresses that may be feeds or sitemaps are being tried.',
  found: 'The search is over.',
  nothing: 'The search is over.',
};

/** Where a search stands, in a sentence. */
export const stateText = ({ state, candidates }: Search): string =>
  isOpen({ state } as Search) || candidates.length === 0
    ? stateTexts[state]
    : `${stateTexts[state]} ${plural(candidates.length, 'address was', 'addresses were')} tried.`;

/** What a search came to, as far as a person must be told: with how it can go on. */
export type Ending = {
  kind: 'found' | 'elsewhere' | 'unreachable' | 'unreadable' | 'links';
  title: string;
  text: string;
};

/** What a search that has ended came to. */
export function endingOf(source: SourceCard): Ending | null {
  const search = source.discovery;
  if (search === null || isOpen(search)) return null;
  const own = search.found.filter((one) => one.owner?.slug === source.slug);
  if (source.channels > 0 || own.length > 0)
    return {
      kind: 'found',
      title: `${source.name} is followed`,
      text: `${plural(own.length || source.channels, 'channel is', 'channels are')} polled. Keep it as it is, or say how it is to be followed.`,
    };
  if (search.found.some((one) => one.owner !== null))
    return {
      kind: 'elsewhere',
      title: 'Everything it has is followed already',
      text: 'Its feeds belong to other sources. This one would stay empty: take it back, or give it a feed of its own.',
    };
  const page = search.candidates.findLast((one) => one.by === 'page') ?? search.candidates.at(-1);
  const why = outcomeText(page?.outcome ?? null);
  // The engine leaves the mode as it was when nothing of the site answered.
  if (source.ingestionMode === 'feed')
    return {
      kind: 'unreachable',
      title: `${source.name} cannot be reached`,
      text: `${source.url}: ${why}. Check the address, and look again or take it back.`,
    };
  if (page !== undefined && page.outcome !== 'page' && page.outcome !== 'redirect') {
    const doubt = /^http_4(?!0[13])/.test(page.outcome ?? '') ? ' Is the address right?' : '';
    return {
      kind: 'unreadable',
      title: 'The page cannot be read',
      text: `${page.url}: ${why}.${doubt} If you know a feed of it, give its address below.`,
    };
  }
  return {
    kind: 'links',
    title: 'No feed or sitemap found',
    text: `${plural(search.candidates.length, 'address was', 'addresses were')} tried. Links on its pages are followed instead. If you know a feed of it, give its address below.`,
  };
}

/** Whether the same address without encryption may answer: a name that nobody knows has neither. */
export function isWorthHttp(source: SourceCard): boolean {
  const outcome = source.discovery?.candidates.findLast((one) => one.by === 'page')?.outcome;
  return (
    endingOf(source)?.kind === 'unreachable' &&
    source.url.startsWith('https:') &&
    outcome !== 'dns' &&
    outcome !== 'refused_address'
  );
}
