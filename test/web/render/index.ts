import { gzipSync } from 'node:zlib';
import iconv from 'iconv-lite';
import { partsOf, type Story } from '../article.ts';
import type { ReplyCache } from '../cache.ts';
import type { Reply } from '../exchange.ts';
import { lexicons } from '../lexicon/index.ts';
import type { Publisher } from '../publisher.ts';
import { hashOf } from '../random.ts';
import type { Described, Site } from '../site.ts';
import type { Target } from '../target.ts';
import type { Item } from '../timeline.ts';
import { renderFeed } from './feeds.ts';
import { furnitureOf } from './furniture/index.ts';
import { escapeText, feedTypeOf, renderFooter, renderHead, renderNavigation } from './html.ts';
import { imageSize, renderIcon, renderImage } from './images.ts';
import { renderArticle } from './layouts.ts';
import { renderArchive, renderListing } from './listing.ts';
import { renderRobots } from './robots.ts';
import { renderSitemap } from './sitemaps.ts';

const relatedLinks = 5;
const gzipLevel = 1;

/** The healthy answer to a target, from the cache when nothing has changed since. */
export function renderTarget(
  site: Site,
  target: Target,
  options: { nowMs: number; cache: ReplyCache },
): Reply {
  const { nowMs, cache } = options;
  const version = versionOf(site, target, nowMs);
  const key = `${site.publisher.index} ${version}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const reply = withValidators(site, target, render(site, target, nowMs), version, nowMs);
  cache.set(key, reply);
  return reply;
}

/** Changes exactly when the body does, and names the target: both the cache's key and the entity tag. */
function versionOf(site: Site, target: Target, nowMs: number): string {
  switch (target.kind) {
    case 'article':
      return `a-${target.item.id.toString(36)}-${site.changedAt(target.item, nowMs).toString(36)}${target.part === 1 ? '' : `-${target.part}`}`;
    case 'listing':
      return `l-${target.section ?? ''}-${target.datePrefix ?? ''}-${target.page}-${site.timeline.countAt(nowMs)}${planting(site)}`;
    case 'archive':
      return `v-${site.timeline.countAt(nowMs)}`;
    case 'feed':
      return `f-${target.feed.path}-${site.timeline.countAt(nowMs)}-${newestChange(site, target.feed.items, nowMs)}`;
    case 'sitemap':
      // News entries leave after two days, so an hour is the grain of a sitemap without new items.
      return `s-${target.sitemap.path}-${target.month ?? ''}-${site.timeline.countAt(nowMs)}-${Math.floor(nowMs / 3_600_000)}`;
    case 'image':
      return `i-${target.id.toString(36)}`;
    case 'redirect':
      return `r-${target.status}-${target.location}`;
    case 'static':
      return `t-${target.name}`;
    case 'robots':
      return `b-${hashOf(renderRobots(site.publisher)).toString(36)}`;
    default:
      return `x-${target.kind}`;
  }
}

/** Faults that plant links change every listing. */
function planting(site: Site): string {
  let ids = '';
  for (const { id, definition } of site.faults) if (definition.links !== undefined) ids += `-${id}`;
  return ids;
}

function newestChange(site: Site, items: number, nowMs: number): string {
  const count = site.timeline.countAt(nowMs);
  let newest = 0;
  for (let index = Math.max(0, count - items); index < count; index++)
    newest = Math.max(newest, site.changedAt(site.timeline.at(index) as Item, nowMs));
  return newest.toString(36);
}

function render(site: Site, target: Target, nowMs: number): Reply {
  const { publisher } = site;
  switch (target.kind) {
    case 'robots':
      return { status: 200, type: 'text/plain; charset=utf-8', body: Buffer.from(renderRobots(publisher)) };
    case 'article':
      return page(publisher, articlePage(site, target, nowMs));
    case 'listing': {
      const html = renderListing(site, target, site.timeline.countAt(nowMs));
      return html === undefined ? missing(publisher) : page(publisher, html);
    }
    case 'archive':
      return page(publisher, renderArchive(site, site.timeline.countAt(nowMs)));
    case 'feed': {
      const text = renderFeed(site, target.feed, { count: site.timeline.countAt(nowMs), nowMs });
      const charset = target.feed.kind === 'json' ? 'utf-8' : publisher.charset;
      const links =
        publisher.hub?.by === 'header'
          ? `<${publisher.hub.url}>; rel="hub", <http://${publisher.host}${target.feed.path}>; rel="self"`
          : null;
      return {
        status: 200,
        type: feedTypeOf(target.feed),
        body: encode(text, charset),
        maxAgeS: 60,
        ...(links === null ? {} : { headers: { Link: links } }),
      };
    }
    case 'sitemap': {
      const text = renderSitemap(site, target.sitemap, {
        count: site.timeline.countAt(nowMs),
        nowMs,
        month: target.month,
      });
      const body = Buffer.from(text);
      return target.sitemap.kind === 'gzip'
        ? { status: 200, type: 'application/gzip', body: gzipSync(body, { level: gzipLevel }) }
        : { status: 200, type: target.sitemap.kind === 'text' ? 'text/plain' : 'application/xml', body };
    }
    case 'image':
      return { status: 200, type: 'image/png', body: renderImage(hashOf(publisher.domain, target.id)) };
    case 'icon':
      return { status: 200, type: 'image/svg+xml', body: Buffer.from(renderIcon(publisher.index)) };
    case 'static':
      return page(publisher, staticPage(publisher, target.name));
    case 'redirect':
      return {
        status: target.status,
        type: 'text/html',
        body: Buffer.from('moved\n'),
        location: target.location,
      };
    default:
      return missing(publisher);
  }
}

function articlePage(
  site: Site,
  { item, part }: Extract<Target, { kind: 'article' }>,
  nowMs: number,
): string {
  const described = site.describe(item);
  const story = site.storyOf(item, nowMs);
  const origin = site.originOf(item);
  const related: Described[] = [];
  for (let index = item.index - 1; index >= 0 && related.length < relatedLinks; index--)
    related.push(site.describe(site.timeline.at(index) as Item));
  return renderArticle({
    publisher: site.publisher,
    described,
    story: {
      ...story,
      blocks: blocksOf(site.publisher, { described, story, part }),
      section: described.section,
    },
    canonical: origin.kind === 'duplicate' ? site.describe(origin.item).url : described.url,
    changedMs: site.changedAt(item, nowMs),
    image: {
      url: `http://${site.publisher.host}/img/${item.id.toString(36)}.png`,
      ...imageSize(hashOf(site.publisher.domain, item.id)),
    },
    related,
    furniture: furnitureOf(site),
  });
}

/** What a page of an article has of it: all, or its part with links to all parts. */
function blocksOf(
  publisher: Publisher,
  { described: { path }, story, part }: { described: Described; story: Omit<Story, 'section'>; part: number },
): Story['blocks'] {
  const { blocks } = story;
  const parts = partsOf(publisher, { blocks });
  if (parts === 1) return blocks;
  const start = (page: number): number => Math.floor(((page - 1) * blocks.length) / parts);
  const address = (page: number): string => {
    if (page === 1) return path;
    return publisher.urlStyle === 'slash'
      ? `${path}${page}/`
      : `${path}${path.includes('?') ? '&' : '?'}page=${page}`;
  };
  const links = Array.from({ length: parts }, (_, at) =>
    at + 1 === part ? `<b>${part}</b>` : `<a href="${address(at + 1)}">${at + 1}</a>`,
  );
  return [
    ...blocks.slice(start(part), start(part + 1)),
    { kind: 'p', text: `<span class="page-links">${links.join(' ')}</span>` },
  ];
}

function staticPage(publisher: Publisher, name: string): string {
  const { furniture } = lexicons[publisher.language];
  const form =
    name === 'login'
      ? '<form method="post"><input name="user"><input name="password" type="password"></form>'
      : '';
  return `${renderHead(publisher, `${name} | ${publisher.title}`, '')}<body>${renderNavigation(publisher)}<h1>${escapeText(name)}</h1><p>${furniture.about}: ${escapeText(publisher.title)}</p>${form}${renderFooter(publisher)}</body></html>\n`;
}

/** A page of the publisher around any body. */
export function renderShell(publisher: Publisher, title: string, body: string): string {
  return `${renderHead(publisher, title, '')}<body>${body}</body></html>\n`;
}

function missing(publisher: Publisher): Reply {
  return { ...page(publisher, notFoundPage(publisher)), status: 404 };
}

/** The page for addresses that lead nowhere; soft 404s send it with status 200. */
export function notFoundPage(publisher: Publisher): string {
  const { furniture } = lexicons[publisher.language];
  return `${renderHead(publisher, `404 | ${publisher.title}`, '')}<body>${renderNavigation(publisher)}<h1>404</h1><p>${furniture.notFound}</p>${renderFooter(publisher)}</body></html>\n`;
}

/** An HTML page in the publisher's character set, announced in its way. */
export function page(publisher: Publisher, html: string): Reply {
  const { charset, charsetDeclaration } = publisher;
  let type = 'text/html';
  if (charsetDeclaration === 'header') type = `text/html; charset=${charset}`;
  if (charsetDeclaration === 'wrong') type = 'text/html; charset=utf-8';
  return { status: 200, type, body: encode(html, charset) };
}

const slabBytes = 524_288;
const maxBytesPerUnit = 3;
let slab = Buffer.allocUnsafeSlow(slabBytes);
let slabUsed = 0;

/**
 * Pages share slabs: a memory block for every page of a crawl, each fetched once, cost more than writing the page
 * (3,200 responses/s against the figure with slabs in bench/web.ts).
 */
function encode(text: string, charset: string): Buffer {
  if (charset !== 'utf-8') return iconv.encode(text, charset);
  const most = text.length * maxBytesPerUnit;
  if (most > slabBytes / 4) return Buffer.from(text);
  if (slabUsed + most > slabBytes) {
    slab = Buffer.allocUnsafeSlow(slabBytes);
    slabUsed = 0;
  }
  const start = slabUsed;
  slabUsed += slab.write(text, start);
  return slab.subarray(start, slabUsed);
}

/** Publishers differ: both validators, one of them, or none. */
function withValidators(site: Site, target: Target, reply: Reply, version: string, nowMs: number): Reply {
  if (reply.status !== 200) return reply;
  const habit = site.publisher.index % 5;
  if (habit !== 1 && habit !== 4) reply.etag = habit === 3 ? `W/"${version}"` : `"${version}"`;
  if (habit !== 2 && habit !== 4) {
    const newest =
      target.kind === 'article' ? target.item : site.timeline.at(site.timeline.countAt(nowMs) - 1);
    if (newest !== undefined) reply.lastModifiedMs = site.changedAt(newest, nowMs);
  }
  return reply;
}
