import { blockReasons, domainStatuses } from '../../../src/domains/index.ts';
import {
  channelErrors,
  deadReasons,
  failureReasons,
  holdTexts,
  reasonTexts,
} from '../../../src/explain/index.ts';
import { urlKinds, urlOrigins, urlStatuses } from '../../../src/frontier/index.ts';
import { code, table } from './markdown.ts';

const statusTexts: Record<(typeof urlStatuses)[number], [string, string]> = {
  pending: ['it waits for its turn, or for the time it is due', 'is fetched'],
  fetched: ['it was read; an article has its document', 'is looked at again after `domains.refresh_days`'],
  redirected: ['it leads elsewhere, and that address has a row of its own', 'nothing'],
  duplicate: [
    'its text is that of another address of its domain',
    'it is looked at once more, after the time of a refresh',
  ],
  failed: ['the last try failed', 'is tried again: after 1, 5, 30 minutes, 2 and 12 hours'],
  needs_render: ['it shows its text only with JavaScript', 'waits for a fetcher with a browser'],
  dead: ['it was given up, with a reason', 'nothing, unless somebody retries or submits it again'],
};

const domainTexts: Record<(typeof domainStatuses)[number], string> = {
  pending: 'known, never crawled',
  active: 'pages wait, or are being fetched',
  exhausted: 'no page waits; its feeds are still polled',
  blocked: 'it refuses us, and rests',
  unreachable: 'it cannot be connected to, and rests',
};

const originTexts: Record<(typeof urlOrigins)[number], string> = {
  feed: 'an item of a feed',
  sitemap: 'an entry of a sitemap',
  push: 'a hub pushed it (WebSub)',
  spider: 'a link of a page that was followed',
  archive: 'found while archives were looked for',
  refresh: 'a known article, looked at again',
  redirect: 'another address led there',
  manual: 'a person, the API or a list named it',
};

const kindTexts: Record<(typeof urlKinds)[number], string> = {
  article: 'a page that may become a document',
  listing: 'a page that is read for its links',
  channel: 'a feed, a sitemap or a page that is polled',
  image: 'a picture of an article',
  probe: 'an address that is tried while feeds are looked for',
};

const rows = (texts: Readonly<Record<string, string>>): string[][] =>
  Object.entries(texts).map(([name, words]) => [code(name), words]);

/** docs/reference/outcomes.md. */
export function renderOutcomes(): string {
  return `${[
    '# Outcomes',
    '',
    'Made from the words that `outrider explain` uses (`src/explain`) by `scripts/write-reference.mjs`; a test keeps it in step. Every end of a URL, a poll and a domain has one of these names, in the tables, the API, the metrics and the screens alike. `outrider explain URL` says them in sentences.',
    '',
    '## Statuses of a URL',
    ...table(
      ['status', 'meaning', 'what happens next by itself'],
      urlStatuses.map((name) => [code(name), ...statusTexts[name]]),
    ),
    '',
    '## Why a URL is dead',
    '',
    '`outrider urls --status dead --reason CODE` lists them, `outrider urls retry URL` asks for one again, and with the same options for all of them.',
    ...table(['code', 'meaning'], [...rows(deadReasons), ['`http_4xx`', 'the server answered that status']]),
    '',
    '## Why a try failed',
    '',
    'Codes of rows with the status `failed`. The last try of `fetch.max_tries` makes the row dead: `max_retries`, or the code itself where the page refused us.',
    ...table(
      ['code', 'meaning'],
      [...rows(failureReasons), ['`http_408`, `http_425`, `http_5xx`', 'the server answered that status']],
    ),
    '',
    '`needs_render` has `needs_javascript`, or `render_always` where the source is always rendered ([rendering](../guides/rendering.md)).',
    '',
    '## Why a poll failed',
    '',
    'The kinds of errors of a channel; its row in the frontier has them as `channel_404` and so on. [Channels](../guides/channels.md#when-it-fails) says which of them put it to sleep.',
    ...table(['kind', 'meaning'], rows(channelErrors)),
    '',
    '## Outcomes of requests',
    '',
    '`outrider_requests_total` and the crawl log name each request `response`, `not_modified`, `redirect` or `unsupported_type` (its body was not read) when it was answered, or else by what went wrong with it, in the words of the table above, and `refused_address` or `refused_port` where it never left. A page that validation refuses has the reason instead, and a request that our own outage spoilt is an `outage`.',
    '',
    '## Kinds and origins of a URL',
    ...table(['kind', 'meaning'], rows(pick(urlKinds, kindTexts))),
    ...table(['origin', 'meaning'], rows(pick(urlOrigins, originTexts))),
    '',
    '## Statuses of a domain',
    '',
    '[Domains](../guides/domains.md) says what happens next in each.',
    ...table(['status', 'meaning'], rows(pick(domainStatuses, domainTexts))),
    '',
    '## Why a domain rests',
    '',
    `\`blocked\` has ${blockReasons.map(code).join(', ')}, or what an operator wrote; the others belong to \`unreachable\`.`,
    ...table(['reason', 'meaning'], rows(reasonTexts)),
    '',
    "## What a domain's next request waits for",
    ...table(['hold', 'meaning'], rows(holdTexts)),
  ].join('\n')}\n`;
}

const pick = <Name extends string>(names: readonly Name[], texts: Record<Name, string>) =>
  Object.fromEntries(names.map((name) => [name, texts[name]])) as Record<Name, string>;
