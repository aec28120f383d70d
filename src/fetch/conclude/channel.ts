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
import { type DomainSignal, decideStatus, type Verdict } from '../outcome.ts';
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
  if (arrival.end === 'gate') {
    if (arrival.gate.answer === 'blocked')
      return channelFailure(
        row,
        channel,
        'http',
        `robots.txt forbids it (line ${arrival.gate.line ?? '?'})`,
        null,
        context,
      );
    return channelFailure(row, channel, 'network', arrival.gate.text, arrival.gate.retryMs, context);
  }
  if (arrival.end === 'dead') return channelFailure(row, channel, 'http', arrival.text, null, context);
  if (arrival.end === 'left')
    return channelFailure(row, channel, 'moved', `moved to ${arrival.identity.fetchUrl}`, null, context);
  const { result } = arrival;
  if (result.outcome === 'failed')
    return channelFailure(
      row,
      channel,
      channelErrorOfFailure(result.kind),
      `${result.kind}: ${result.detail}`,
      null,
      context,
    );
  if (result.outcome === 'not_modified') {
    const item: Partial<SettleItem> = {
      httpStatus: 304,
      fetched: true,
      unchanged: true,
      channel: channelFacts(channel, null),
    };
    return ended(row, polled(decideInterval(channel, maxAgeSeconds(result.headers['cache-control']))), item, {
      signal: 'good',
    });
  }
  if (result.outcome !== 'response')
    return channelFailure(row, channel, 'parse', `answered ${result.outcome}`, null, context);
  if (result.status < 200 || result.status >= 300) {
    const retryAfterMs = parseRetryAfter(result.headers['retry-after'] ?? null, new Date());
    const { domain } = decideStatus(result.status, retryAfterMs, { tries: 0, maxTries: context.maxTries });
    return {
      ...channelFailure(
        row,
        channel,
        channelErrorOf(result.status),
        `the server answered ${result.status}`,
        retryAfterMs,
        context,
        result.status,
      ),
      domain,
    };
  }
  const ingested = await ingest(responseOf(row, { ...arrival, result }), context.settings);
  if (ingested.outcome !== 'channel') throw new Error(`a channel row cannot end as ${ingested.outcome}`);
  const { reading } = ingested;
  if (reading.error !== null)
    return channelFailure(
      row,
      channel,
      'parse',
      reading.detail ?? 'cannot be read',
      null,
      context,
      result.status,
    );
  const floor = Math.max(reading.floorSeconds ?? 0, maxAgeSeconds(result.headers['cache-control']) ?? 0);
  const item: Partial<SettleItem> = {
    httpStatus: result.status,
    fetched: true,
    etag: result.headers['etag'] ?? null,
    lastModified: result.headers['last-modified'] ?? null,
    found: { seen: ingested.found.length + reading.skipped, duplicate: 0, rejected: reading.skipped },
    channel: {
      ...channelFacts(channel, null),
      format: reading.format,
      hub: reading.hub,
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

function channelFailure(
  row: LeasedUrl,
  channel: Channel,
  error: ChannelError,
  text: string,
  retryAfterMs: number | null,
  context: RowContext,
  status: number | null = null,
): RowEnd {
  const dueInMs = decideErrorInterval(channel, error, row.tries + 1, retryAfterMs);
  const verdict: Verdict = {
    status: 'pending',
    dueInMs,
    tries: row.tries + 1,
    errorCode: `channel_${error}`,
    errorText: text,
  };
  const domain: DomainSignal = error === 'network' ? { signal: 'network' } : neutral;
  void context;
  return ended(row, verdict, { httpStatus: status, channel: channelFacts(channel, error) }, domain);
}
