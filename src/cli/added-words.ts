import type { Discovery, FoundChannel } from '../channels/index.ts';
import type { Source } from '../sources/index.ts';
import type { Json } from './api.ts';
import { oneLine } from './output.ts';

/** A search as the API tells it. */
export type ShownDiscovery = Pick<Discovery, 'state' | 'channelId' | 'reason'> & {
  candidates: Pick<Discovery['candidates'][number], 'url' | 'by' | 'outcome'>[];
  found: FoundChannel[];
};

/** What became of an address that was added. */
export type AddedFacts = {
  source: Json<Source>;
  discovery: ShownDiscovery | null;
  channels: readonly {
    kind: string;
    url: string;
    title: string | null;
    intervalSeconds: number;
    /** What it held when it was found; null: nobody knows. */
    entries: number | null;
  }[];
  /** What was found and belongs to another source. */
  elsewhere: { kind: string; url: string; slug: string; name: string }[];
  /** Feeds that were found and are not polled: they list the same, or there were too many. */
  leftOut: number;
  created: boolean;
  /** The address itself is polled already. */
  known: boolean;
  /** It was removed again, because everything it has is followed elsewhere. */
  removed: boolean;
  /** Somebody crawls. */
  running: boolean;
};

const reasons: Readonly<Record<string, string>> = {
  dns: 'no such host is known',
  connect: 'nothing answers there',
  tls: 'its certificate is not accepted',
  timeout: 'it did not answer in time',
  reset: 'it broke the connection off',
  refused_address: 'its address is a private one; fetch.allow_networks can allow it',
  refused_port: 'its port is not one that is crawled',
  robots_unavailable: 'its robots.txt cannot be read, so nothing else may be',
  robots_blocked: 'its robots.txt does not want us there',
  http_401: 'it asks for a login (401)',
  http_403: 'it refuses us (403)',
  http_404: 'there is no such page (404)',
  http_410: 'the page is gone (410)',
  body_too_large: 'the page is too large',
  challenge: 'it asks whether we are a person',
  access_denied: 'it refuses us',
  site_error: 'it says that it is out of order',
  login_wall: 'it asks for a login or for consent',
};

const reasonOf = (outcome: string | null | undefined): string => {
  if (outcome === null || outcome === undefined) return 'no answer';
  const status = /^http_(\d+)$/.exec(outcome)?.[1];
  return reasons[outcome] ?? (status === undefined ? outcome.replaceAll('_', ' ') : `it answered ${status}`);
};

/** Whether the search ended because nothing of the site answered: then its mode is as it was. */
export function isOutOfReach({ source, discovery, channels }: AddedFacts): boolean {
  return discovery?.state === 'nothing' && source.ingestionMode === 'feed' && channels.length === 0;
}

/** Whether another scheme may help: a name that nobody knows has neither. */
export function isWorthHttp(facts: AddedFacts): boolean {
  const outcome = facts.discovery?.candidates.findLast((one) => one.by === 'page')?.outcome;
  return isOutOfReach(facts) && outcome !== 'dns' && outcome !== 'refused_address';
}

/** The first line a person is told. */
export function headlineOf(facts: AddedFacts, address: string): string {
  const { source } = facts;
  if (facts.known) return `${address} is followed already, by ${source.name} (${source.slug}).`;
  if (facts.removed) return `Nothing was added: everything ${source.url} has is followed already.`;
  if (facts.created) return `Added ${source.name} (${source.url}).`;
  return source.enabled
    ? `${source.name} is followed already; its channels ${facts.running ? 'were' : 'will be'} looked for again.`
    : `${source.name} is known and disabled; "outrider sources enable ${source.slug}" follows it again.`;
}

const isPage = (outcome: string | null): boolean => outcome === 'page' || outcome === 'redirect';

/** What else a person is told, line by line. */
export function describeAdded(facts: AddedFacts): string[] {
  const { source, discovery, channels } = facts;
  if (facts.known || !source.enabled) return [];
  const remove = `Not what you meant? "outrider sources delete ${source.slug}" forgets it.`;
  if (facts.removed) return elsewhereLines(facts);
  if (channels.length > 0) return channelLines(facts);
  if (!facts.running)
    return ['  Nothing is crawling right now: its feeds are looked for as soon as "outrider up" runs.'];
  const page = discovery?.candidates.findLast((one) => one.by === 'page');
  if (discovery?.state !== 'nothing' && discovery?.state !== 'found') {
    const later = '"outrider channels" shows them when they are found.';
    if (page === undefined || page.outcome === null || isPage(page.outcome))
      return [`  Still looking for its feeds; ${later}`];
    return [
      `  ${page.url} cannot be read: ${reasonOf(page.outcome)}.`,
      `  Its feeds are still looked for where they often are; ${later} ${remove}`,
    ];
  }
  if (isOutOfReach(facts))
    return [
      `  It cannot be reached: ${reasonOf((page ?? discovery.candidates.at(-1))?.outcome)}.`,
      `  Check the address. It is looked at again in an hour and later; "outrider add ${source.url}" does it now. ${remove}`,
    ];
  if (page !== undefined && !isPage(page.outcome)) {
    const doubt = /^http_4(?!0[13])/.test(page.outcome ?? '') ? ' Is the address right?' : '';
    return [`  ${page.url} cannot be read: ${reasonOf(page.outcome)}.${doubt}`, `  ${remove}`];
  }
  return [
    `  No feed or sitemap found (${discovery.candidates.length} addresses tried); its links are followed instead.`,
  ];
}

function channelLines(facts: AddedFacts): string[] {
  const { channels, source } = facts;
  const width = Math.max(...channels.map((one) => one.kind.length));
  const lines = channels.map(({ kind, url, title, entries }) => {
    const about = [
      ...(title === null ? [] : [`"${oneLine(title)}"`]),
      ...(entries === null ? [] : [`${entries} ${entries === 1 ? 'entry' : 'entries'}`]),
    ];
    return `  ${kind.padEnd(width)}  ${url}${about.length === 0 ? '' : `  ${about.join(', ')}`}`;
  });
  if (facts.leftOut > 0)
    lines.push(
      `  ${facts.leftOut === 1 ? 'One more feed lists' : `${facts.leftOut} more feeds list`} the same or would be too many; "outrider channels add ${source.slug} URL" takes any.`,
    );
  lines.push(...elsewhereLines(facts));
  const every = [...new Set(channels.map((one) => spanOf(one.intervalSeconds)))].join(' and ');
  lines.push(
    source.ingestionMode === 'spider'
      ? `  None of it is polled: ${linksOnlyText(source)}`
      : `  Polled every ${every}. "outrider docs list" shows what comes in.`,
  );
  return lines;
}

/** Why channels of a source are not polled that is followed by its links, and what to do. */
export const linksOnlyText = ({ name, slug }: Pick<Json<Source>, 'name' | 'slug'>): string =>
  `${name} is followed by its links only. "outrider sources set ${slug} --mode both" polls its channels, too.`;

const elsewhereLines = ({ elsewhere }: AddedFacts): string[] =>
  elsewhere.map((one) => `  ${one.kind}  ${one.url}  is followed already, by ${one.name} (${one.slug})`);

function spanOf(seconds: number): string {
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}
