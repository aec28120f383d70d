import { opmlFoot, opmlHead, outlineTag } from '../feed-formats/index.ts';
import { csvLine } from './csv.ts';
import { channelColumns, sourceColumns, sourceFields, sourceRows } from './fields.ts';
import type { ListedSource, ListFormat } from './model.ts';
import { opmlPrefix } from './read-list.ts';

/** Writes a list piece by piece: the pieces in order are the file. */
export type ListWriter = {
  head(): string;
  source(source: ListedSource): string;
  foot(): string;
};

// A name for the namespace, not an address that must answer.
const namespace = { prefix: opmlPrefix, uri: 'urn:outrider:sources:1' };

/** A writer of a format; `lines` keeps addresses only, all others every setting. */
export function createListWriter(format: ListFormat, options: { created?: Date } = {}): ListWriter {
  switch (format) {
    case 'lines':
      return plain((source) => `${source.url}\n`);
    case 'ndjson':
      return plain((source) => `${JSON.stringify(sourceFields(source))}\n`);
    case 'json':
      return jsonWriter();
    case 'csv':
      return csvWriter();
    case 'opml':
      return {
        head: () =>
          opmlHead({ namespace, ...(options.created === undefined ? {} : { created: options.created }) }),
        source: outlinesOf,
        foot: () => opmlFoot,
      };
  }
}

const plain = (source: ListWriter['source']): ListWriter => ({ head: () => '', source, foot: () => '' });

function jsonWriter(): ListWriter {
  let isFirst = true;
  return {
    head: () => '[',
    source: (source) => {
      const separator = isFirst ? '\n' : ',\n';
      isFirst = false;
      return `${separator}  ${JSON.stringify(sourceFields(source))}`;
    },
    foot: () => (isFirst ? ']\n' : '\n]\n'),
  };
}

function csvWriter(): ListWriter {
  const columns = [...sourceColumns, ...channelColumns.map((name) => `channel_${name}`)];
  return {
    head: () => csvLine(columns),
    source: (source) =>
      sourceRows(source)
        .map((row) => csvLine(columns.map((name) => row.get(name) ?? '')))
        .join(''),
    foot: () => '',
  };
}

/** One outline for each channel. Only feeds are `xmlUrl`: other readers would take a sitemap for a broken feed. */
function outlinesOf(source: ListedSource): string {
  return sourceRows(source)
    .map((row, index) => {
      const channel = source.channels[index];
      const isFeed = channel?.kind === 'feed';
      const extra = new Map(row);
      extra.delete('url');
      if (isFeed) for (const name of ['channel_url', 'channel_kind']) extra.delete(name);
      const tag = outlineTag(
        {
          title: channel?.title ?? source.name ?? null,
          feedUrl: isFeed ? channel.url : null,
          siteUrl: source.url,
          description: null,
          language: null,
          folders: [],
          extra: Object.fromEntries(extra),
        },
        opmlPrefix,
      );
      return `    ${tag}\n`;
    })
    .join('');
}
