/** Documents made to hang or fill a reader, and how long each takes to be answered. */
import { performance } from 'node:perf_hooks';
import { parseFeed, parseOpml, parseSitemap } from '../src/feed-formats/index.ts';
import { decideRobots, parseRobots } from '../src/robots/index.ts';
import { decideUrlFilter, identifyUrl } from '../src/url/index.ts';

type Read = (bytes: Buffer) => unknown;

const bomb = `<!DOCTYPE x [<!ENTITY l0 "ha">${Array.from(
  { length: 9 },
  (_, index) => `<!ENTITY l${index + 1} "${`&l${index};`.repeat(10)}">`,
).join('')}]>`;
const outside = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>';
const item = (title: string) =>
  `<rss><channel><item><title>${title}</title><link>https://a.example/</link></item></channel></rss>`;
const page = (path: string) => `<urlset><url><loc>https://a.example/${path}</loc></url></urlset>`;
const longPath = `https://a.example/${'a'.repeat(2000)}`;

const feed: Read = (bytes) => parseFeed(bytes);
const sitemap: Read = (bytes) => parseSitemap(bytes);
const opml: Read = (bytes) => parseOpml(bytes);
const robots: Read = (bytes) => decideRobots(parseRobots(bytes), 'outrider', longPath);
const pattern: Read = (bytes) => {
  const result = identifyUrl(longPath);
  return result.outcome === 'ok' && decideUrlFilter(result.identity, { exclude: [bytes.toString()] });
};

const cases: readonly [name: string, read: Read, make: () => string][] = [
  ['feedUnclosedTags', feed, () => `<rss><channel>${'<item>'.repeat(100_000)}`],
  ['feedDeepTags', feed, () => `<rss><channel><item>${'<a>'.repeat(1_000_000)}`],
  ['feedBillionLaughs', feed, () => bomb + item('&l9;')],
  ['feedXxe', feed, () => outside + item('&e;')],
  ['feedAmpersands', feed, () => item('&'.repeat(1_000_000))],
  ['sitemapUnclosedTags', sitemap, () => `<urlset>${'<url>'.repeat(100_000)}`],
  ['sitemapUnclosedLocs', sitemap, () => `<urlset><url>${'<loc>'.repeat(100_000)}`],
  ['sitemapDeepTags', sitemap, () => `<urlset>${'<a>'.repeat(1_000_000)}`],
  ['sitemapBillionLaughs', sitemap, () => bomb + page('&l9;')],
  ['sitemapXxe', sitemap, () => outside + page('&e;')],
  ['sitemapOpenQuotes', sitemap, () => `<urlset>${'<a b="'.repeat(170_000)}`],
  ['sitemapOpenEndTags', sitemap, () => `<urlset>${'</'.repeat(500_000)}`],
  ['sitemapAmpersands', sitemap, () => page(`${'&'.repeat(1_000_000)};`)],
  ['opmlDeepOutlines', opml, () => `<opml>${'<outline text="x">'.repeat(50_000)}`],
  ['robotsStars', robots, () => `User-agent: *\nDisallow: /${'*a'.repeat(8_000)}b`],
  [
    'robotsManyRules',
    robots,
    () => `User-agent: *\n${Array.from({ length: 30_000 }, (_, i) => `Disallow:*a${i}b`).join('\n')}`,
  ],
  ['patternNestedPlus', pattern, () => '(a+)+$b'],
];

/** Milliseconds per document by the clock and by the processor, the first reading of each: it comes only once. */
export async function runHostile(): Promise<Record<string, { ms: number; cpuMs: number }>> {
  const times: Record<string, { ms: number; cpuMs: number }> = {};
  for (const [name, read, make] of cases) {
    const bytes = Buffer.from(make());
    const cpu = process.cpuUsage();
    const start = performance.now();
    await read(bytes);
    const ms = performance.now() - start;
    const used = process.cpuUsage(cpu);
    times[name] = { ms: Math.round(ms), cpuMs: Math.round((used.user + used.system) / 1000) };
  }
  return times;
}
