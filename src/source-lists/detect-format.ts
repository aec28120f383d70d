import type { ListFormat } from './model.ts';

const extensions: Readonly<Record<string, ListFormat>> = {
  opml: 'opml',
  xml: 'opml',
  csv: 'csv',
  tsv: 'csv',
  json: 'json',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  txt: 'lines',
};

/** The format a file's name promises; null: look inside. */
export function formatOfName(name: string): ListFormat | null {
  return extensions[/\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''] ?? null;
}

/** The format a list's first characters have. */
export function detectFormat(head: string): ListFormat {
  const text = head.replace(/^\ufeff/, '').trimStart();
  if (text.startsWith('<')) return 'opml';
  if (text.startsWith('[') || /^\{\s*"sources"\s*:/.test(text)) return 'json';
  if (text.startsWith('{')) return 'ndjson';
  const line = /^[^\r\n]*/.exec(text)![0];
  return findColumns(line) === null ? 'lines' : 'csv';
}

/** What other programs call our columns. */
const aliases: Readonly<Record<string, string>> = {
  site: 'url',
  site_url: 'url',
  siteurl: 'url',
  website: 'url',
  homepage: 'url',
  address: 'url',
  htmlurl: 'url',
  html_url: 'url',
  link: 'url',
  domain: 'url',
  title: 'name',
  feed: 'feed_url',
  feedurl: 'feed_url',
  xmlurl: 'feed_url',
  xml_url: 'feed_url',
  rss: 'feed_url',
  rss_url: 'feed_url',
  sitemap: 'sitemap_url',
  mode: 'ingestion_mode',
  interval_minutes: 'feed_poll_interval_minutes',
};

/** The separator of a header line and the columns it names; null: it is no header. */
export function findColumns(line: string): { separator: string; nameOf: (cell: string) => string } | null {
  const separator = [',', ';', '\t'].find((one) => line.includes(one)) ?? ',';
  const nameOf = (cell: string): string => {
    const name = cell
      .trim()
      .toLowerCase()
      .replace(/[\s-]+/g, '_');
    return Object.hasOwn(aliases, name) ? aliases[name]! : name;
  };
  const names = line.split(separator).map((cell) => nameOf(cell.replace(/^\s*"|"\s*$/g, '')));
  return names.some((name) => ['url', 'feed_url', 'sitemap_url', 'channel_url'].includes(name))
    ? { separator, nameOf }
    : null;
}
