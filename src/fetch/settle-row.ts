import type { Channel } from '../channels/index.ts';
import { type LeasedUrl, levelOf, type SettleItem, type SubmitItem } from '../frontier/index.ts';
import type { Ingested, IngestSettings } from '../ingest/index.ts';
import { ingest } from '../ingest/index.ts';
import {
  type ChannelError,
  channelErrorOf,
  channelErrorOfFailure,
  decideErrorInterval,
  decideInterval,
  maxAgeSeconds,
} from './channel-outcome.ts';
import type { HttpResult } from './client/index.ts';
import { parseRetryAfter } from './client/index.ts';
import type { Arrival } from './exchange.ts';
import {
  type Decision,
  type DomainSignal,
  decideFailure,
  decideRejection,
  decideStatus,
  type Verdict,
} from './outcome.ts';

/** Everything that follows from one row's fetch: what to submit, what to settle, what it says about the domain. */
export type RowEnd = {
  items: SettleItem[];
  document: Extract<Ingested, { outcome: 'document' }>['document'] | null;
  found: SubmitItem[];
  domain: DomainSignal;
  /** Sitemaps a sitemap index names; read in the same lease. */
  children: string[];
};

export type RowContext = { settings: IngestSettings; maxTries: number; channelErrorsInRow: number };

const neutral: DomainSignal = { signal: 'neutral' };

/** Turns an arrival into its consequences. Pure but for the parsing it asks for. */
export function concludeRow(
  row: LeasedUrl,
  arrival: Exclude<Arrival, { end: 'handed_back' }>,
  context: RowContext,
): RowEnd {
  if (row.kind === 'channel') return concludeChannel(row, arrival, context);
  if (row.kind === 'probe') return concludeProbe(row, arrival, context);
  switch (arrival.end) {
    case 'gate':
      return concludeGate(row, arrival, context);
    case 'dead':
      return ended(
        row,
        {
          status: 'dead',
          dueInMs: null,
          tries: row.tries + 1,
          errorCode: arrival.code,
          errorText: arrival.text,
        },
        { httpStatus: arrival.status, fetched: true },
      );
    case 'left':
      return {
        ...ended(row, redirected(row), {
          httpStatus: arrival.status,
          redirectedTo: arrival.identity.fetchUrl,
          fetched: true,
        }),
        found: [leaving(row, arrival)],
      };
    case 'answered':
      return concludeAnswer(row, arrival, context);
  }
}

const redirected = (row: LeasedUrl): Verdict => ({
  status: 'redirected',
  dueInMs: null,
  tries: row.tries,
  errorCode: null,
  errorText: null,
});

const leaving = (row: LeasedUrl, arrival: Extract<Arrival, { end: 'left' }>): SubmitItem => ({
  url: arrival.identity.fetchUrl,
  kind: row.kind,
  origin: 'redirect',
  sourceId: row.sourceId,
  priority: row.priority,
  depth: row.depth,
  hops: arrival.hops,
  parentUrl: row.url,
  own: false,
});

function ended(
  row: LeasedUrl,
  verdict: Verdict,
  extra: Partial<SettleItem> = {},
  domain: DomainSignal = neutral,
): RowEnd {
  const item: SettleItem = { hash: row.hash, kind: row.kind, fetched: false, ...verdict, ...extra };
  return { items: [item], document: null, found: [], domain, children: [] };
}

function concludeGate(
  row: LeasedUrl,
  arrival: Extract<Arrival, { end: 'gate' }>,
  context: RowContext,
): RowEnd {
  const { gate } = arrival;
  if (gate.answer === 'blocked') {
    const text = `robots.txt forbids it${gate.line === null ? '' : ` (line ${gate.line}: ${gate.rule ?? ''})`}`;
    return ended(row, {
      status: 'dead',
      dueInMs: null,
      tries: row.tries,
      errorCode: 'robots_blocked',
      errorText: text,
    });
  }
  if (gate.network !== null) {
    const { verdict, domain } = decideFailure(gate.network, gate.text, {
      tries: row.tries,
      maxTries: context.maxTries,
    });
    return ended(row, verdict, {}, domain);
  }
  const waiting: Verdict = {
    status: row.tries > 0 ? 'failed' : 'pending',
    dueInMs: gate.retryMs,
    tries: row.tries,
    errorCode: gate.code,
    errorText: gate.text,
  };
  return ended(row, waiting);
}

function concludeAnswer(
  row: LeasedUrl,
  arrival: Extract<Arrival, { end: 'answered' }>,
  context: RowContext,
): RowEnd {
  const facts = { tries: row.tries, maxTries: context.maxTries };
  const { result } = arrival;
  const fromDecision = (decision: Decision, extra: Partial<SettleItem> = {}) =>
    withTarget(row, arrival, ended(row, decision.verdict, extra, decision.domain));
  switch (result.outcome) {
    case 'failed':
      return fromDecision(decideFailure(result.kind, result.detail, facts));
    case 'unsupported_type':
      return fromDecision(
        {
          verdict: {
            status: 'dead',
            dueInMs: null,
            tries: row.tries + 1,
            errorCode: 'unsupported_type',
            errorText: `content type ${result.contentType ?? 'unknown'}`,
          },
          domain: neutral,
        },
        { httpStatus: result.status, fetched: true },
      );
    case 'not_modified':
      if (!result.conditional)
        return fromDecision(
          decideFailure('bad_response', 'answered 304 although nothing was asked conditionally', facts),
          { httpStatus: 304 },
        );
      return ended(row, fine(row), { httpStatus: 304, fetched: true, unchanged: true }, { signal: 'good' });
    case 'redirect':
      throw new Error('redirects are followed before a row is concluded');
    case 'response':
      return concludeResponse(row, { ...arrival, result }, context);
  }
}

const fine = (_row: LeasedUrl): Verdict => ({
  status: 'fetched',
  dueInMs: null,
  tries: 0,
  errorCode: null,
  errorText: null,
});

function concludeResponse(
  row: LeasedUrl,
  arrival: Extract<Arrival, { end: 'answered' }> & { result: Extract<HttpResult, { outcome: 'response' }> },
  context: RowContext,
): RowEnd {
  const { result } = arrival;
  const facts = { tries: row.tries, maxTries: context.maxTries };
  const answered: Partial<SettleItem> = { httpStatus: result.status, fetched: true };
  if (result.status < 200 || result.status >= 300) {
    const decision = decideStatus(
      result.status,
      parseRetryAfter(result.headers['retry-after'] ?? null, new Date()),
      facts,
    );
    return withTarget(
      row,
      arrival,
      ended(
        row,
        decision.verdict,
        { ...answered, fetched: result.status < 500 && result.status !== 429 },
        decision.domain,
      ),
    );
  }
  if (result.status === 204 || result.body.length === 0) {
    return withTarget(
      row,
      arrival,
      ended(
        row,
        {
          status: 'dead',
          dueInMs: null,
          tries: row.tries + 1,
          errorCode: 'empty',
          errorText: 'the answer had no body',
        },
        answered,
      ),
    );
  }
  const ingested = ingest(responseOf(row, arrival), context.settings);
  const validators: Partial<SettleItem> = {
    etag: result.headers['etag'] ?? null,
    lastModified: result.headers['last-modified'] ?? null,
  };
  if (ingested.outcome === 'rejected') {
    const decision = decideRejection(ingested.reason, ingested.detail, facts);
    return withTarget(
      row,
      arrival,
      ended(
        row,
        decision.verdict,
        { ...answered, validationStatus: 'rejected', rejectionReason: ingested.reason },
        decision.domain,
      ),
    );
  }
  if (ingested.outcome === 'links') {
    return withTarget(row, arrival, {
      ...ended(row, fine(row), { ...answered, ...validators, validationStatus: 'valid' }, { signal: 'good' }),
      found: ingested.found,
    });
  }
  if (ingested.outcome !== 'document') throw new Error(`a ${row.kind} row cannot end as ${ingested.outcome}`);
  const { document } = ingested;
  const stored: Partial<SettleItem> = {
    ...answered,
    ...validators,
    contentHash: document.contentHash,
    validationStatus: ingested.stub ? 'stub' : 'valid',
  };
  return withTarget(row, arrival, {
    ...ended(row, fine(row), stored, { signal: 'good' }),
    document,
    found: ingested.found,
  });
}

function responseOf(
  row: LeasedUrl,
  arrival: Extract<Arrival, { end: 'answered' }> & { result: Extract<HttpResult, { outcome: 'response' }> },
) {
  const { result } = arrival;
  return {
    row,
    finalUrl: arrival.url,
    // Channels and probes keep their own hash; a page is known by where it ended.
    finalHash: row.kind === 'channel' || row.kind === 'probe' ? row.hash : arrival.identity.hash,
    status: result.status,
    headers: result.headers,
    body: result.body,
    wireBody: result.wireBody,
    contentEncoding: result.contentEncoding,
  };
}

/** A redirect inside the domain: the original is `redirected`, and what the response came to is the target's. */
function withTarget(row: LeasedUrl, arrival: Extract<Arrival, { end: 'answered' }>, end: RowEnd): RowEnd {
  if (arrival.moved === 'no') return end;
  const item = end.items[0]!;
  if (arrival.identity.hash.equals(row.hash)) {
    // The same key (http to https, a slash): only the address to fetch changes, and only when it is meant to last.
    return arrival.moved === 'permanently' ? { ...end, items: [{ ...item, url: arrival.url }] } : end;
  }
  const original: SettleItem = {
    hash: row.hash,
    kind: row.kind,
    fetched: true,
    ...redirected(row),
    redirectedTo: arrival.url,
    httpStatus: arrival.moved === 'permanently' ? 301 : 302,
  };
  const target: SettleItem = {
    ...item,
    hash: arrival.identity.hash,
    target: {
      url: arrival.url,
      origin: 'redirect',
      sourceId: row.sourceId,
      priority: row.priority,
      level: levelOf(row.kind, row.priority),
      depth: row.depth,
      hops: row.hops,
      parentUrl: row.url,
    },
  };
  return { ...end, items: [original, target] };
}

function concludeChannel(
  row: LeasedUrl,
  arrival: Exclude<Arrival, { end: 'handed_back' }>,
  context: RowContext,
): RowEnd {
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
    return ended(
      row,
      polled(row, decideInterval(channel, maxAgeSeconds(result.headers['cache-control']))),
      item,
      { signal: 'good' },
    );
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
  const ingested = ingest(responseOf(row, { ...arrival, result }), context.settings);
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
    ...ended(row, polled(row, decideInterval(channel, floor)), item, { signal: 'good' }),
    found: ingested.found,
    children: reading.children,
  };
}

const polled = (_row: LeasedUrl, dueInMs: number): Verdict => ({
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

function concludeProbe(
  row: LeasedUrl,
  arrival: Exclude<Arrival, { end: 'handed_back' }>,
  context: RowContext,
): RowEnd {
  const done: Verdict = fine(row);
  const failed = (reason: string, status: number | null): RowEnd =>
    ended(row, done, {
      fetched: false,
      httpStatus: status,
      result: { kind: 'failed', url: row.url, status, reason },
    });
  switch (arrival.end) {
    case 'gate':
      return failed(arrival.gate.answer === 'blocked' ? 'robots_blocked' : 'robots_unavailable', null);
    case 'dead':
      return failed(arrival.code, arrival.status);
    case 'left':
      return ended(row, done, {
        fetched: true,
        httpStatus: arrival.status,
        result: { kind: 'redirect', url: arrival.identity.fetchUrl },
      });
    case 'answered': {
      const { result } = arrival;
      if (result.outcome === 'failed')
        return {
          ...failed(result.kind, null),
          domain: decideFailure(result.kind, result.detail, { tries: 0, maxTries: 2 }).domain,
        };
      if (result.outcome !== 'response') return failed(result.outcome, result.status);
      if (result.status < 200 || result.status >= 300) return failed(`http_${result.status}`, result.status);
      const ingested = ingest(responseOf(row, { ...arrival, result }), context.settings);
      const value =
        ingested.outcome === 'probe'
          ? ingested.result
          : { kind: 'failed', url: row.url, status: result.status, reason: ingested.outcome };
      return ended(
        row,
        done,
        { fetched: true, httpStatus: result.status, result: value },
        { signal: 'good' },
      );
    }
  }
}
