import { identifyUrl } from '../url/index.ts';
import type { Robots } from './parse.ts';

/**
 * The sitemaps a robots.txt names, as they are fetched, each once. The protocol asks for whole addresses; many files
 * say `Sitemap: /sitemap.xml` all the same, and mean their own site.
 */
export function sitemapsNamed(robots: Robots, origin: string): string[] {
  const urls = robots.sitemaps.flatMap(({ url }) => {
    const identified = identifyUrl(url, { base: origin });
    return identified.outcome === 'ok' ? [identified.identity.fetchUrl] : [];
  });
  return [...new Set(urls)];
}
