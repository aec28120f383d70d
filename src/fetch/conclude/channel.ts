import type { Channel } from '../../channels/index.ts';
import type { LeasedUrl, SettleItem } from '../../frontier/index.ts';
import { ingest } from '../../ingest/index.ts';
import {
  type ChannelError,
  channelErrorOf,
  channelErrorOfFailure,
  decideErrorInterval,
  decideInterval,
  maxAgeSeconds,
} from '../channel-outcome.ts';
import { parseRetryAfter } from '../client/index.ts';
import { type DomainSignal, decideFailure, decideStatus, type Verdict } from '../outcome.ts';
import { type Ended, ended, neutral, type RowContext, type RowEnd, responseOf } from './row-end.ts';

/** A poll: the channel's own table decides, and the row is due again whatever came. */
export async function concludeChannel(row: LeasedUrl, arrival: Ended, context: RowContext): Promise<RowEnd> {
  const { channel } = context.settings;
  if (channel === null || !channel.enabled) {
    return ended(row, {
      status: 'dead',
      dueInMs: null,
      tries: row.tries,
      errorCode: 'channel_removed',
      errorText: 'no channel asks for this poll',
    });
  }
  const at = { row, channel };
  if (arrival.end === 'gate') {
    const { gate } = arrival;
    if (gate.answer === 'blocked')
      return failing(at, 'http', `robots.txt forbids it (line ${gate.line ?? '?'})`);
    const domain: DomainSignal = gate.network === null ? neutral : { signal: 'network', kind: gate.network };
    return failing(at, 'network', gate.text, { retryAfterMs: gate.retryMs, domain });
  }
  if (arrival.end === 'dead') return failing(at, 'http', arrival.text);
  if (arrival.end === 'left') return failing(at, 'moved', `moved to ${arrival.identity.fetchUrl}`);
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
    const dueInMs = decideInterval(channel, maxAgeSeconds(result.headers['cache-control']));
    return ended(row, polled(dueInMs), unchanged, { signal: 'good' });
  }
  if (result.outcome !== 'response') return failing(at, 'parse', `answered ${result.outcome}`);
  const { status } = result;
  if (status < 200 || status >= 300) {
    const retryAfterMs = parseRetryAfter(result.headers['retry-after'] ?? null, new Date());
    const { domain } = decideStatus(status, retryAfterMs, { tries: 0, maxTries: context.maxTries });
    const text = `the server answered ${status}`;
    return failing(at, channelErrorOf(status), text, { retryAfterMs, status, domain });
  }
  const ingested = await ingest(responseOf(row, { ...arrival, result }), context.settings);
  if (ingested.outcome === 'unreadable')
    return failing(at, 'parse', `${ingested.reason}: ${ingested.detail}`, { status });
  if (ingested.outcome !== 'channel') throw new Error(`a channel row cannot end as ${ingested.outcome}`);
  const { reading } = ingested;
  if (reading.error !== null) return failing(at, 'parse', reading.detail ?? 'cannot be read', { status });
  const floor = Math.max(reading.floorSeconds ?? 0, maxAgeSeconds(result.headers['cache-control']) ?? 0);
  const item: Partial<SettleItem> = {
    httpStatus: result.status,
    fetched: true,
    etag: result.headers.etag ?? null,
    lastModified: result.headers['last-modified'] ?? null,
    found: { seen: reading.skipped, duplicate: 0, rejected: reading.skipped },
    channel: {
      ...channelFacts(channel, null),
      format: reading.format,
      hub: reading.hub,
      topic: reading.topic,
      lastItemAt: reading.lastItemAt,
    },
  };
  return {
    ...ended(row, polled(decideInterval(channel, floor)), item, { signal: 'good' }),
    found: ingested.found,
    children: reading.children,
  };
}

const polled = (dueInMs: number): Verdict => ({
  status: 'pending',
  dueInMs,
  tries: 0,
  errorCode: null,
  errorText: null,
});

const channelFacts = (channel: Channel, error: ChannelError | null): NonNullable<SettleItem['channel']> => ({
  id: channel.id,
  error,
  newItems: 0,
  format: null,
  hub: null,
  lastItemAt: null,
});

type Failing = { row: LeasedUrl; channel: Channel };

function failing(
  { row, channel }: Failing,
  error: ChannelError,
  text: string,
  extra: { retryAfterMs?: number | null; status?: number; domain?: DomainSignal } = {},
): RowEnd {
  const tries = row.tries + 1;
  const dueInMs = decideErrorInterval(channel, error, tries, extra.retryAfterMs ?? null);
  const verdict: Verdict = {
    status: 'pending',
    dueInMs,
    tries,
    errorCode: `channel_${error}`,
    errorText: text,
  };
  return ended(
    row,
    verdict,
    { httpStatus: extra.status ?? null, channel: channelFacts(channel, error) },
    extra.domain ?? neutral,
  );
}
