import { type Language, lexicons } from './lexicon/index.ts';
import { createNamer } from './names.ts';
import type {
  CharsetDeclaration,
  FeedSetup,
  Metadata,
  Publisher,
  SitemapSetup,
  UrlStyle,
} from './publisher.ts';
import { hashOf, normalFrom, randomFrom } from './random.ts';

/** Median of new articles a day; the rates are log-normal with this spread, as measured feeds are. */
const medianPerDay = 6;
const rateSpread = 1.5;
const deepPages = 40;

const languages = Object.keys(lexicons) as Language[];
const styles: readonly UrlStyle[] = ['dated', 'section', 'flat', 'html', 'slash', 'query'];
const metadatas: readonly Metadata[] = ['jsonld', 'opengraph', 'microdata', 'graph', 'none'];
const legacyCharsets: Readonly<Partial<Record<Language, string>>> = {
  de: 'windows-1252',
  fr: 'windows-1252',
  es: 'windows-1252',
  sv: 'windows-1252',
  ru: 'koi8-r',
  ja: 'shift_jis',
};

/** Nothing declared is rarer than the header or the page saying it. */
const declarations: readonly CharsetDeclaration[] = ['header', 'header', 'meta', 'meta', 'meta', 'none'];

/** A feed as most publishers have it. */
export const feed = (kind: FeedSetup['kind'], path: string, more: Partial<FeedSetup> = {}): FeedSetup => ({
  kind,
  path,
  advertised: true,
  full: false,
  tracking: false,
  origLink: false,
  relative: false,
  items: 25,
  ...more,
});
const sitemap = (
  kind: SitemapSetup['kind'],
  path: string,
  inRobots: boolean,
  lastmod = true,
): SitemapSetup => ({
  kind,
  path,
  inRobots,
  lastmod,
});

interface Profile {
  feeds?: readonly FeedSetup[];
  sitemaps?: readonly SitemapSetup[];
  archives?: boolean;
  /** Catalogue deep enough for forty pages of a listing. */
  deep?: boolean;
}

/** How publishers announce their articles; the n-th publisher takes the n-th profile, so small webs have them all. */
const profiles: readonly Profile[] = [
  { feeds: [feed('rss', '/feed')] },
  { feeds: [feed('atom', '/atom.xml')], sitemaps: [sitemap('urlset', '/sitemap.xml', true)] },
  { feeds: [feed('json', '/feed.json')] },
  { feeds: [feed('rdf', '/index.rdf')] },
  { feeds: [feed('rss', '/rss.xml', { full: true, advertised: false })] },
  { sitemaps: [sitemap('news', '/news-sitemap.xml', true)] },
  { feeds: [feed('rss', '/feed.xml', { tracking: true })], archives: true },
  { feeds: [feed('atom', '/feeds/all.atom', { relative: true, full: true })] },
  { feeds: [feed('rss', '/rss', { origLink: true })] },
  { sitemaps: [sitemap('index', '/sitemap_index.xml', true)] },
  { archives: true, deep: true },
  {
    feeds: [feed('rss', '/feed', { relative: true })],
    sitemaps: [sitemap('news', '/news-sitemap.xml', false)],
  },
  { sitemaps: [sitemap('gzip', '/sitemap.xml.gz', true)] },
  { feeds: [feed('atom', '/atom.xml', { advertised: false, tracking: true })] },
  { feeds: [feed('rss', '/feed'), feed('json', '/feed.json', { full: true })] },
  { sitemaps: [sitemap('urlset', '/sitemap.xml', false, false)], archives: true },
  { sitemaps: [sitemap('text', '/sitemap.txt', true, false)] },
];

/** Changes to a generated publisher. */
export type PublisherChange = Partial<Omit<Publisher, 'index' | 'address' | 'hosts'>>;

/** Makes publishers from a seed; a change at a position replaces what the seed would have chosen. */
export function makePublishers(options: {
  seed: number;
  count: number;
  backlog?: number;
  pageKb?: number;
  changes?: readonly PublisherChange[];
}): Publisher[] {
  const { seed, count, backlog = 60, pageKb = 0, changes = [] } = options;
  const nameFor = createNamer(seed);
  const publishers: Publisher[] = [];
  for (let index = 0; index < count; index++)
    publishers.push(makePublisher({ seed, index, backlog, pageKb, nameFor, change: changes[index] ?? {} }));
  return publishers;
}

function makePublisher(options: {
  seed: number;
  index: number;
  backlog: number;
  pageKb: number;
  nameFor: ReturnType<typeof createNamer>;
  change: PublisherChange;
}): Publisher {
  const { seed, index, backlog, pageKb, nameFor, change } = options;
  const language = change.language ?? (languages[index % languages.length] as Language);
  const named = nameFor(language);
  const domain = change.domain ?? named.domain;
  const random = randomFrom(hashOf(seed, 'publisher', index));
  const profile = profiles[index % profiles.length] as Profile;
  const perPage = profile.deep === true ? 10 : 20;
  const legacy = random.next() < 0.25 ? legacyCharsets[language] : undefined;
  const metadata = change.metadata ?? (metadatas[index % metadatas.length] as Metadata);
  const www = change.host === undefined ? random.next() < 0.3 : change.host.startsWith('www.');
  return {
    index,
    title: named.title,
    address: addressOf(index),
    language,
    charset: legacy ?? 'utf-8',
    charsetDeclaration: legacy === undefined ? 'header' : random.pick(declarations),
    // Microdata sits on the elements, so only its own layout can carry it.
    layout: metadata === 'microdata' ? 2 : index % 6,
    metadata,
    urlStyle: styles[Math.floor(index / 2) % styles.length] as UrlStyle,
    feeds: profile.feeds ?? [],
    sitemaps: profile.sitemaps ?? [],
    robots: { disallow: ['/search', '/login', '/private/'], allow: [], crawlDelayS: 0 },
    pagination: index % 2 === 0 ? 'query' : 'path',
    perPage,
    archives: profile.archives === true,
    backlog: profile.deep === true ? Math.max(backlog, perPage * deepPages) : backlog,
    ratePerDay: Math.min(400, Math.max(0.2, medianPerDay * Math.exp(rateSpread * normalFrom(random)))),
    duplicates: index % 11 === 3,
    syndicates: index % 9 === 7,
    ...(pageKb === 0 ? {} : { pageKb }),
    compression: index % 10 === 0 ? 'none' : index % 2 === 0 ? 'gzip' : 'br',
    faults: [],
    ...change,
    domain,
    host: change.host ?? (www ? `www.${domain}` : domain),
    hosts: [domain, `www.${domain}`],
  };
}

/** A /24 of its own for each of up to 63,000 domains; elsewhere than on Linux only 127.0.0.1 exists. */
function addressOf(index: number): string {
  if (process.platform !== 'linux') return '127.0.0.1';
  return `127.${1 + Math.floor(index / 250)}.${1 + (index % 250)}.1`;
}
