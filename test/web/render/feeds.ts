import { textOf } from '../article.ts';
import type { FeedSetup } from '../publisher.ts';
import type { Described, Site } from '../site.ts';
import type { Item } from '../timeline.ts';
import { escapeText } from './html.ts';
import { descriptionOf } from './metadata.ts';

interface Entry {
  described: Described;
  link: string;
  summary: string;
  html: string | undefined;
  author: string;
  changedMs: number;
}

/** Items a feed carries at a moment, newest first. */
export function feedItems(site: Site, feed: FeedSetup, count: number): Item[] {
  const items: Item[] = [];
  for (let index = count - 1; index >= 0 && items.length < feed.items; index--)
    items.push(site.timeline.at(index) as Item);
  return items;
}

/** The feed's text in its own format. */
export function renderFeed(site: Site, feed: FeedSetup, options: { count: number; nowMs: number }): string {
  const entries = feedItems(site, feed, options.count).map((item) =>
    entryOf(site, feed, item, options.nowMs),
  );
  switch (feed.kind) {
    case 'rss':
      return renderRss(site, feed, entries);
    case 'atom':
      return renderAtom(site, feed, entries);
    case 'rdf':
      return renderRdf(site, entries);
    default:
      return renderJson(site, feed, entries);
  }
}

function entryOf(site: Site, feed: FeedSetup, item: Item, nowMs: number): Entry {
  const described = site.describe(item);
  const story = site.storyOf(item, nowMs);
  return {
    described,
    link: linkOf(site, feed, described),
    summary: descriptionOf(story),
    html: feed.full
      ? textOf(story)
          .split('\n\n')
          .map((text) => `<p>${escapeText(text)}</p>`)
          .join('')
      : undefined,
    author: story.author,
    changedMs: site.changedAt(item, nowMs),
  };
}

function linkOf(site: Site, feed: FeedSetup, described: Described): string {
  const { url, path } = described;
  if (feed.origLink) return `http://${site.publisher.host}/go/${described.item.id.toString(36)}`;
  if (feed.tracking)
    return `${url}${url.includes('?') ? '&' : '?'}utm_source=feed&utm_medium=rss&utm_campaign=${described.section.slug}`;
  return feed.relative ? path : url;
}

function declaration(site: Site): string {
  return `<?xml version="1.0" encoding="${site.publisher.charset}"?>\n`;
}

function hubLink({ publisher: { hub } }: Site, element: string): string {
  return hub?.by === 'document' ? `<${element} rel="hub" href="${escapeText(hub.url)}"/>` : '';
}

function renderRss(site: Site, feed: FeedSetup, entries: readonly Entry[]): string {
  const { publisher } = site;
  let items = '';
  for (const entry of entries) {
    const { item, title, url, section } = entry.described;
    const original = feed.origLink ? `<feedburner:origLink>${escapeText(url)}</feedburner:origLink>` : '';
    const content =
      entry.html === undefined ? '' : `<content:encoded><![CDATA[${entry.html}]]></content:encoded>`;
    items += `<item><title>${escapeText(title)}</title><link>${escapeText(entry.link)}</link><guid isPermaLink="false">${publisher.domain}:${item.id}</guid><pubDate>${new Date(item.atMs).toUTCString()}</pubDate><dc:creator>${escapeText(entry.author)}</dc:creator><category>${section.name}</category><description>${escapeText(entry.summary)}</description>${content}${original}</item>\n`;
  }
  return `${declaration(site)}<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:feedburner="http://rssnamespace.org/feedburner/ext/1.0"><channel><title>${escapeText(publisher.title)}</title><link>http://${publisher.host}/</link><description>${escapeText(publisher.title)}</description><language>${publisher.language}</language><atom:link rel="self" href="http://${publisher.host}${feed.path}"/>${hubLink(site, 'atom:link')}\n${items}</channel></rss>\n`;
}

function renderAtom(site: Site, feed: FeedSetup, entries: readonly Entry[]): string {
  const { publisher } = site;
  const base = feed.relative ? ` xml:base="http://${publisher.host}/"` : '';
  let items = '';
  for (const entry of entries) {
    const { item, title } = entry.described;
    const content =
      entry.html === undefined ? '' : `<content type="html">${escapeText(entry.html)}</content>`;
    items += `<entry><id>tag:${publisher.domain},2020:${item.id}</id><title>${escapeText(title)}</title><link rel="edit" href="/edit/${item.id}"/><link rel="alternate" type="text/html" href="${escapeText(entry.link)}"/><published>${new Date(item.atMs).toISOString()}</published><updated>${new Date(entry.changedMs).toISOString()}</updated><author><name>${escapeText(entry.author)}</name></author><summary>${escapeText(entry.summary)}</summary>${content}</entry>\n`;
  }
  const updated = new Date(entries[0]?.described.item.atMs ?? 0).toISOString();
  return `${declaration(site)}<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${publisher.language}"${base}><id>tag:${publisher.domain},2020:feed</id><title>${escapeText(publisher.title)}</title><updated>${updated}</updated><link rel="self" href="http://${publisher.host}${feed.path}"/><link rel="alternate" href="http://${publisher.host}/"/>${hubLink(site, 'link')}\n${items}</feed>\n`;
}

function renderRdf(site: Site, entries: readonly Entry[]): string {
  const { publisher } = site;
  let list = '';
  let items = '';
  for (const entry of entries) {
    const { item, title, url } = entry.described;
    const about = escapeText(url);
    list += `<rdf:li rdf:resource="${about}"/>`;
    items += `<item rdf:about="${about}"><title>${escapeText(title)}</title><link>${escapeText(entry.link)}</link><description>${escapeText(entry.summary)}</description><dc:date>${new Date(item.atMs).toISOString()}</dc:date><dc:creator>${escapeText(entry.author)}</dc:creator></item>\n`;
  }
  return `${declaration(site)}<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="http://${publisher.host}/"><title>${escapeText(publisher.title)}</title><link>http://${publisher.host}/</link><description>${escapeText(publisher.title)}</description><items><rdf:Seq>${list}</rdf:Seq></items></channel>\n${items}</rdf:RDF>\n`;
}

function renderJson(site: Site, feed: FeedSetup, entries: readonly Entry[]): string {
  const { publisher } = site;
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: publisher.title,
    home_page_url: `http://${publisher.host}/`,
    feed_url: `http://${publisher.host}${feed.path}`,
    language: publisher.language,
    ...(publisher.hub?.by === 'document' ? { hubs: [{ type: 'WebSub', url: publisher.hub.url }] } : {}),
    items: entries.map((entry) => ({
      id: `${publisher.domain}:${entry.described.item.id}`,
      url: entry.link,
      title: entry.described.title,
      ...(entry.html === undefined ? { summary: entry.summary } : { content_html: entry.html }),
      date_published: new Date(entry.described.item.atMs).toISOString(),
      date_modified: new Date(entry.changedMs).toISOString(),
      authors: [{ name: entry.author }],
    })),
  });
}
