/** robots.txt: bytes in, a plain value out, decisions with the line that made them (RFC 9309). */
export {
  type CrawlDelay,
  crawlDelayOf,
  decideRobots,
  disallowsEverything,
  MAX_CRAWL_DELAY_SECONDS,
  type RobotsDecision,
} from './decide.ts';
export { MAX_ROBOTS_BYTES, parseRobots, type Robots, type RobotsGroup, type RobotsRule } from './parse.ts';
export { sitemapsNamed } from './sitemaps.ts';
