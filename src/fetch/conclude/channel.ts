import { type Channel, isArchiveRead } from '../../channels/index.ts';
import type { LeasedUrl, SettleItem } from '../../frontier/index.ts';
import { ingest } from '../../ingest/index.ts';
import type { UrlIdentity } from '../../url/index.ts';
import {
  type ChannelError,
  channelErrorOf,
  channelErrorOfFailure,
  decideError,
  maxAgeSeconds,
} from '../channel-outcome.ts';
import { retryAfterOf } from '../client/index.ts';
import { type DomainSignal, decideFailure, decideRejection, decideStatus, type Verdict } from '../outcome.ts';
import {
  type Answered,
  type Ended,
  ended,
  neutral,
  type RowContext,
  type RowEnd,
  responseOf,
} from './row-end.ts';

// A permanent redirect may be a mistake of a day; seen on so many polls it is meant.
const redirectsToMove = 3;
const heldMs = 300_000;

/** The end of a channel's row that is not polled at all: nobody asks for it, it has moved, or it is held. */
export function concludeUnpolled(
  row: LeasedUrl,
  {
    polling,
    archives,
    channel,
    moved,
    source,
  }: Pick<RowContext['settings'], 'channel' | 'source'> & {
    /** The switches of these names. */
    polling: boolean;
    archives: boolean;
    moved: Channel | null;
  },
): RowEnd | null {
  if (moved !== null) return { ...ended(row, movedTo(moved.url)), found: [] };
  if (channel === null)
    return ended(row, {
      status: 'dead',
      dueInMs: null,
      tries: row.tries,
      errorCode: 'channel_removed',
      errorText: 'no channel asks for this poll',
    });
  const reason = !polling
    ? 'polling is switched off'
    : !channel.enabled
      ? 'the channel is disabled'
      : source?.enabled === false
        ? 'its source is disabled'
        : source?.ingestionMode === 'spider' && channel.foundBy !== 'archive'
          ? 'its source is followed by links only'
          : !archives && isArchiveRead(channel)
            ? 'archive discovery is switched off'
            : null;
  if (reason === null) return null;
  return ended(row, {
    status: 'pending',
    dueInMs: heldMs * (0.8 + Math.random() * 0.4),
    tries: row.tries,
    errorCode: 'polling_off',
    errorText: reason,
  });
}

/** A poll: the channel's own table decides, and the row is due again whatever came. */
export async function concludeChannel(row: LeasedUrl, arrival: Ended, context: RowContext): Promise<RowEnd> {
  const { channel } = context.settings;
  if (channel === null) throw new Error(`no channel asks for ${row.url}`);
  const at = { row, channel };
  if (arrival.end === 'gate') {
    const { gate } = arrival;
    if (gate.answer === 'blocked')
      return failing(at, 'http', `robots.txt forbids it (line ${gate.line ?? '?'})`);
    const domain: DomainSignal =
      gate.unreached === null ? neutral : { signal: 'network', kind: gate.unreached };
    return failing(at, 'network', gate.text, { retryAfterMs: gate.retryMs, domain });
  }
  if (arrival.end === 'dead') return failing(at, 'http', arrival.text);
  if (arrival.end === 'left') {
    const { identity, status } = arrival;
    const refused = failing(at, 'moved', `leads to ${identity.fetchUrl}, where it cannot go`, { status });
    return { ...refused, poll: { ...refused.poll, move: moveOf(row, identity, 0) } };
  }
  const { result } = arrival;
  if (result.outcome === 'failed') {
    const { domain } = decideFailure(result.kind, result.detail, { tries: 0, maxTries: 2 });
    return failing(at, channelErrorOfFailure(result.kind), `${result.kind}: ${result.detail}`, { domain });
  }
  if (result.outcome === 'not_modified') {
    if (!result.conditional)
      return failing(at, 'http', 'answered 304 although nothing was asked conditionally');
    const unchanged = {
      httpStatus: 304,
      fetched: true,
      unchanged: true,
      channel: channelFacts(channel, null),
    };
    const maxAge = maxAgeSeconds(result.headers['cache-control']);
    return {
      ...ended(row, polled(channel), unchanged, { signal: 'good' }),
      poll: { news: { dates: [], bodyFloorSeconds: null, maxAgeSeconds: maxAge } },
    };
  }
  if (result.outcome !== 'response') return failing(at, 'parse', `answered ${result.outcome}`);
  const { status } = result;
  if (status < 200 || status >= 300) {
    const retryAfterMs = retryAfterOf(result.headers);
    const { domain } = decideStatus(status, retryAfterMs, { tries: 0, maxTries: context.maxTries });
    const text = `the server answered ${status}`;
    return failing(at, channelErrorOf(status), text, { retryAfterMs, status, domain });
  }
  return concludeBody(at, { ...arrival, result }, context);
}

async function concludeBody(
  at: Polled,
  arrival: Answered & { result: Extract<Answered['result'], { outcome: 'response' }> },
  context: RowContext,
): Promise<RowEnd> {
  const { row, channel } = at;
  const { result } = arrival;
  const { status, headers } = result;
  const ingested = arrival.ingested ?? (await ingest(responseOf(row, arrival), context.settings));
  if (ingested.outcome === 'unreadable')
    return failing(at, 'parse', `${ingested.reason}: ${ingested.detail}`, { status });
  if (ingested.outcome !== 'channel') throw new Error(`a channel row cannot end as ${ingested.outcome}`);
  const { reading } = ingested;
  if (reading.refusal !== null) {
    const { reason, detail } = reading.refusal;
    const { domain } = decideRejection(reason, detail, { tries: 0, maxTries: context.maxTries });
    // Maintenance in the feed's place is the server's trouble, as a status of 503 is: it says nothing about where the feed is.
    const error = reason === 'site_error' ? '5xx' : '403';
    return failing(at, error, `${reason.replaceAll('_', ' ')} with status ${status}: ${detail}`, {
      status,
      domain,
    });
  }
  if (reading.error !== null)
    return failing(at, 'parse', reading.detail ?? 'cannot be read', { status, isPage: reading.isPage });
  const news = {
    dates: reading.dates,
    bodyFloorSeconds: reading.floorSeconds,
    maxAgeSeconds: maxAgeSeconds(headers['cache-control']),
  };
  const isHere = arrival.moved === 'no';
  const { refused } = reading;
  const unused = Object.values(refused).reduce((sum, one) => sum + one, reading.skipped);
  const item: Partial<SettleItem> = {
    httpStatus: status,
    fetched: true,
    // Validators belong to the address that gave them, not to the one that led there.
    etag: isHere ? (headers.etag ?? null) : null,
    lastModified: isHere ? (headers['last-modified'] ?? null) : null,
    found: { seen: unused, duplicate: 0, rejected: unused },
    channel: {
      ...channelFacts(channel, null),
      format: reading.format,
      hub: reading.hub,
      topic: reading.topic,
      lastItemAt: reading.lastItemAt,
      ...(arrival.moved === 'permanently' ? { redirect: arrival.identity.fetchUrl } : {}),
    },
  };
  const end = {
    ...ended(row, polled(channel), item, { signal: 'good' }),
    found: ingested.found,
    poll: { news, refused, ...(reading.files === null ? {} : { files: reading.files }) },
  };
  const seen = channel.redirectTo === arrival.identity.fetchUrl ? channel.redirects : 0;
  if (arrival.moved !== 'permanently' || seen + 1 < redirectsToMove) return end;
  return {
    ...end,
    poll: { ...end.poll, move: moveOf(row, arrival.identity, channel.intervalSeconds * 1000) },
  };
}

// When it is due is decided once its items are submitted, from what was new among them.
const polled = ({ intervalSeconds }: Channel): Verdict => ({
  status: 'pending',
  dueInMs: intervalSeconds * 1000,
  tries: 0,
  errorCode: null,
  errorText: null,
});

const movedTo = (url: string): Verdict & { redirectedTo: string } => ({
  status: 'dead',
  dueInMs: null,
  tries: 0,
  errorCode: 'moved',
  errorText: `the channel moved to ${url}`,
  redirectedTo: url,
});

/** The row of an address that its channel leaves; what it has of validators goes with it. */
function moveOf(row: LeasedUrl, to: UrlIdentity, dueInMs: number) {
  const { items } = ended(row, movedTo(to.fetchUrl), { fetched: true, etag: null, lastModified: null });
  return { to, dueInMs, items };
}

const channelFacts = (channel: Channel, error: ChannelError | null): NonNullable<SettleItem['channel']> => ({
  id: channel.id,
  error,
  newItems: 0,
  format: null,
  hub: null,
  lastItemAt: null,
});

type Polled = { row: LeasedUrl; channel: Channel };

function failing(
  { row, channel }: Polled,
  error: ChannelError,
  text: string,
  extra: { retryAfterMs?: number | null; status?: number; domain?: DomainSignal; isPage?: boolean } = {},
): RowEnd {
  const failures = row.tries + 1;
  const decision = decideError(channel, error, { failures, retryAfterMs: extra.retryAfterMs ?? null });
  const { dueInMs, sleeps } = decision;
  const verdict: Verdict = {
    status: 'pending',
    dueInMs,
    tries: failures,
    errorCode: `channel_${error}`,
    errorText: text,
  };
  const facts = { ...channelFacts(channel, error), ...(sleeps ? { sleep: error } : {}) };
  const rediscover = decision.rediscovers
    ? { rediscover: error }
    : extra.isPage === true
      ? { rediscover: 'page' }
      : {};
  return {
    ...ended(row, verdict, { httpStatus: extra.status ?? null, channel: facts }, extra.domain ?? neutral),
    poll: { trouble: { error, text, failures, sleeps }, ...rediscover },
  };
}
