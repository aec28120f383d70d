import { lexicons } from '../lexicon/index.ts';
import type { FeedSetup, Publisher } from '../publisher.ts';

const special = /[&<>"]/g;
const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text for HTML and XML. */
export function escapeText(text: string): string {
  return text.replace(special, (letter) => names[letter] as string);
}

const feedTypes: Readonly<Record<FeedSetup['kind'], string>> = {
  rss: 'application/rss+xml',
  atom: 'application/atom+xml',
  json: 'application/feed+json',
  rdf: 'application/rdf+xml',
};

/** The media type of a feed. */
export function feedTypeOf(feed: FeedSetup): string {
  return feedTypes[feed.kind];
}

/** The head of every page: charset, title, feed links and what the page adds. */
export function renderHead(publisher: Publisher, title: string, more: string): string {
  const charset =
    publisher.charsetDeclaration === 'none'
      ? ''
      : `<meta charset="${publisher.charsetDeclaration === 'wrong' ? 'utf-8' : publisher.charset}">`;
  let feeds = '';
  for (const feed of publisher.feeds) {
    if (feed.advertised)
      feeds += `<link rel="alternate" type="${feedTypeOf(feed)}" title="${escapeText(publisher.title)}" href="${feed.path}">`;
  }
  return `<!DOCTYPE html>\n<html lang="${publisher.language}"><head>${charset}<title>${escapeText(title)}</title><meta name="viewport" content="width=device-width"><link rel="icon" href="/icon.svg">${feeds}${more}<style>body{font:16px serif;margin:auto;max-width:60em}nav a{margin-right:1em}</style></head>`;
}

/** Section links, as at the top of every page. */
export function renderNavigation(publisher: Publisher): string {
  const { sections, furniture } = lexicons[publisher.language];
  let links = `<a href="/">${furniture.home}</a>`;
  for (const section of sections) links += `<a href="/${section.slug}/">${section.name}</a>`;
  if (publisher.archives) links += `<a href="/archive">${furniture.archive}</a>`;
  return `<nav>${links}<a href="/login">${furniture.login}</a></nav>`;
}

/** The foot of every page. */
export function renderFooter(publisher: Publisher): string {
  const { furniture } = lexicons[publisher.language];
  return `<footer><a href="/about">${furniture.about}</a> <a href="/search">${furniture.search}</a> <a href="/private/drafts" rel="nofollow">-</a><p>© ${escapeText(publisher.title)}. ${furniture.rights}</p></footer>`;
}
