import type { Publisher } from '../publisher.ts';

/** robots.txt of one of the publisher's hosts. */
export function renderRobots(publisher: Publisher): string {
  const { disallow, allow, crawlDelayS, onlyFor } = publisher.robots;
  const lines = [`User-agent: ${onlyFor ?? '*'}`];
  for (const prefix of disallow) lines.push(`Disallow: ${prefix}`);
  for (const prefix of allow) lines.push(`Allow: ${prefix}`);
  if (crawlDelayS > 0) lines.push(`Crawl-delay: ${crawlDelayS}`);
  if (onlyFor !== undefined) lines.push('', 'User-agent: *', 'Disallow:');
  lines.push('');
  for (const sitemap of publisher.sitemaps)
    if (sitemap.inRobots) lines.push(`Sitemap: http://${publisher.host}${sitemap.path}`);
  return `${lines.join('\n')}\n`;
}

/** Whether robots.txt lets a crawler of this product token have an address; the web's own rules, no parser. */
export function allowedByRobots(publisher: Publisher, pathAndQuery: string, token: string): boolean {
  const { disallow, allow, onlyFor } = publisher.robots;
  if (onlyFor !== undefined && onlyFor.toLowerCase() !== token.toLowerCase()) return true;
  const longest = (prefixes: readonly string[]) =>
    prefixes.reduce(
      (best, prefix) => (pathAndQuery.startsWith(prefix) ? Math.max(best, prefix.length) : best),
      -1,
    );
  return longest(allow) >= longest(disallow);
}
