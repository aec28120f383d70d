import { decideRefresh } from '../../domains/index.ts';
import { type LeasedUrl, levelOf, type SettleItem, type SubmitItem } from '../../frontier/index.ts';
import { parseRetryAfter } from '../client/index.ts';
import type { Arrival } from '../exchange.ts';
import {
  type Decision,
  decideFailure,
  decideLedToListing,
  decideRejection,
  decideStatus,
  type Verdict,
} from '../outcome.ts';
import { decideMissing, readArticle } from './article-pages.ts';
import { isLedHome, isLedToList } from './led-to-listing.ts';
import {
  type Answered,
  type AnsweredWithBody,
  type Ended,
  ended,
  fine,
  neutral,
  type RowContext,
  type RowEnd,
  responseOf,
} from './row-end.ts';

/** An article, listing or image: the page table of the response decides. */
export async function concludePage(row: LeasedUrl, arrival: Ended, context: RowContext): Promise<RowEnd> {
  switch (arrival.end) {
    case 'gate':
      return concludeGate(row, arrival, context);
    case 'dead':
      return ended(row, dead(row, arrival.code, arrival.text), { httpStatus: arrival.status, fetched: true });
    case 'left':
      if (isLedHome(row, arrival.identity)) return concludeLedHome(row, arrival, context);
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

const dead = (row: LeasedUrl, errorCode: string, errorText: string): Verdict => ({
  status: 'dead',
  dueInMs: null,
  tries: row.tries + 1,
  errorCode,
  errorText,
});

const lasting = new Set([301, 308]);

function concludeLedHome(
  row: LeasedUrl,
  { identity, status }: Extract<Arrival, { end: 'left' }>,
  { maxTries }: RowContext,
): RowEnd {
  const to = { url: identity.fetchUrl, isLasting: lasting.has(status) };
  const { verdict, domain } = decideLedToListing(to, { tries: row.tries, maxTries });
  return ended(row, verdict, { httpStatus: status, fetched: true }, domain);
}

const leaving = (row: LeasedUrl, arrival: Extract<Arrival, { end: 'left' }>): SubmitItem => ({
  url: arrival.identity.fetchUrl,
  kind: row.kind,
  origin: 'redirect',
  sourceId: row.sourceId,
  priority: row.priority,
  depth: row.depth,
  hops: arrival.hops,
  executionId: row.executionId,
  parentUrl: row.url,
  own: false,
});

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
  const other = gate.unreached ? nextEntryUrl(row) : null;
  if (other !== null) {
    // The domain is known by name only: which of its addresses answers is found by asking.
    const soon: Verdict = { ...fine(), status: 'pending', dueInMs: 1000, tries: row.tries };
    return ended(row, { ...soon, errorCode: gate.code, errorText: gate.text }, { url: other });
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

/** The next address a seeded domain's front page may have: http after https, then with `www.`; null after the last. */
function nextEntryUrl(row: LeasedUrl): string | null {
  const url = new URL(row.url);
  if (row.kind !== 'listing' || row.origin !== 'spider' || row.depth > 0 || row.fetchCount > 0) return null;
  if (url.pathname !== '/' || url.search !== '' || url.port !== '') return null;
  const www = url.hostname.startsWith('www.');
  if (url.protocol === 'https:') return `http://${url.hostname}/`;
  return www ? null : `https://www.${url.hostname}/`;
}

async function concludeAnswer(row: LeasedUrl, arrival: Answered, context: RowContext): Promise<RowEnd> {
  const facts = { tries: row.tries, maxTries: context.maxTries, probing: context.probing };
  const { result } = arrival;
  const fromDecision = (decision: Decision, extra: Partial<SettleItem> = {}) =>
    withTarget(row, arrival, ended(row, decision.verdict, extra, decision.domain));
  switch (result.outcome) {
    case 'failed':
      // It will not be smaller next time.
      if (row.kind === 'image' && result.kind === 'body_too_large')
        return fromDecision({
          verdict: dead(row, 'image_too_large', result.detail),
          domain: { signal: 'good' },
        });
      return fromDecision(decideFailure(result.kind, result.detail, facts));
    case 'unsupported_type':
      return fromDecision(
        {
          verdict: dead(row, 'unsupported_type', `content type ${result.contentType ?? 'unknown'}`),
          domain: neutral,
        },
        { httpStatus: result.status, fetched: true },
      );
    case 'not_modified':
      if (!result.conditional)
        return fromDecision(
          // Asked once more and no oftener: who says this twice will say it again.
          decideFailure('bad_response', 'answered 304 although nothing was asked conditionally', {
            ...facts,
            maxTries: Math.min(2, facts.maxTries),
          }),
          { httpStatus: 304 },
        );
      return ended(
        row,
        ...lookedAgain(row, false, context, { httpStatus: 304, fetched: true, unchanged: true }),
        { signal: 'good' },
      );
    case 'redirect':
      throw new Error('redirects are followed before a row is concluded');
    case 'response':
      return concludeResponse(row, arrival as AnsweredWithBody, context);
  }
}

async function concludeResponse(
  row: LeasedUrl,
  arrival: AnsweredWithBody,
  context: RowContext,
): Promise<RowEnd> {
  const { result } = arrival;
  const facts = { tries: row.tries, maxTries: context.maxTries, probing: context.probing };
  const answered: Partial<SettleItem> = { httpStatus: result.status, fetched: true };
  if (result.status === 206) {
    const decision = decideFailure(
      'bad_response',
      'a part was answered although the whole was asked for',
      facts,
    );
    return withTarget(row, arrival, ended(row, decision.verdict, { httpStatus: 206 }, decision.domain));
  }
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
  const ledToListing = (isLasting: boolean) => {
    const { verdict, domain } = decideLedToListing({ url: arrival.url, isLasting }, facts);
    return ended(row, verdict, answered, domain);
  };
  if (isLedHome(row, arrival.identity)) return ledToListing(arrival.moved === 'permanently');
  if (result.status === 204 || result.body.length === 0) {
    return withTarget(row, arrival, ended(row, dead(row, 'empty', 'the answer had no body'), answered));
  }
  const { ingested, missing } = await readArticle(responseOf(row, arrival), context);
  if (ingested.outcome === 'unreadable') {
    const { verdict, domain } = decideFailure('bad_response', ingested.detail, facts);
    const named = verdict.status === 'failed' ? { ...verdict, errorCode: ingested.reason } : verdict;
    return withTarget(row, arrival, ended(row, named, answered, domain));
  }
  if (ingested.outcome === 'rejected') {
    const decision = decideRejection(ingested.reason, ingested.detail, facts, context.rendering);
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
      ...ended(
        row,
        fine(),
        {
          ...answered,
          etag: result.headers.etag ?? null,
          lastModified: result.headers['last-modified'] ?? null,
          validationStatus: 'valid',
          ...(row.kind === 'article' ? { becomes: 'listing' as const } : {}),
        },
        { signal: 'good' },
      ),
      page: ingested.page,
      found: ingested.found ?? [],
    });
  }
  if (ingested.outcome === 'image') {
    const { sha256, facts: known } = ingested;
    return withTarget(row, arrival, {
      ...ended(
        row,
        fine(),
        { ...answered, contentHash: sha256, validationStatus: 'valid' },
        { signal: 'good' },
      ),
      image: { sha256, facts: known, body: result.body },
    });
  }
  if (ingested.outcome !== 'document') throw new Error(`a ${row.kind} row cannot end as ${ingested.outcome}`);
  if (missing !== null && row.tries + 1 < context.maxTries) {
    const { verdict, domain } = decideMissing(missing, facts);
    return withTarget(row, arrival, ended(row, verdict, answered, domain));
  }
  const { document } = ingested;
  const isMoved = arrival.moved !== 'no' && !arrival.identity.hash.equals(row.hash);
  // Where another domain led here nobody can be asked again.
  if (isLedToList(row, { url: arrival.url, isMoved }, document))
    return ledToListing(arrival.moved !== 'temporarily');
  const isWhole = missing === null;
  const stored: Partial<SettleItem> = {
    httpStatus: result.status,
    fetched: true,
    // With a page missing to the last try it is what there is; the next look asks for it as if it were new.
    etag: isWhole ? (result.headers.etag ?? null) : null,
    lastModified: isWhole ? (result.headers['last-modified'] ?? null) : null,
    contentHash: isWhole ? document.contentHash : (row.contentHash ?? document.contentHash),
    validationStatus: ingested.stub ? 'stub' : 'valid',
  };
  if (row.kind === 'listing') stored.becomes = 'article';
  // The same text as last time, or a part of it: nothing but the times moves.
  const isKnown =
    row.contentHash?.equals(document.contentHash) === true || (row.contentHash !== null && !isWhole);
  const unchanged = isKnown && arrival.moved === 'no';
  if (unchanged) stored.unchanged = true;
  const changed = row.contentHash !== null && !unchanged;
  const end = ended(row, ...lookedAgain(row, changed, context, stored), { signal: 'good' });
  end.document = unchanged ? null : document;
  end.found = ingested.found;
  end.page = ingested.page;
  return withTarget(row, arrival, end);
}

/** The end of an article that is there: when it is looked at again depends on whether it had changed. */
function lookedAgain(
  row: LeasedUrl,
  changed: boolean,
  context: RowContext,
  item: Partial<SettleItem>,
): [Verdict, Partial<SettleItem>] {
  if (context.refresh === null || (item.becomes ?? row.kind) !== 'article') return [fine(), item];
  const refreshSeconds = decideRefresh(row.refreshSeconds, changed, context.refresh);
  const verdict = fine();
  verdict.dueInMs = refreshSeconds * 1000;
  item.refreshSeconds = refreshSeconds;
  return [verdict, item];
}

/** A redirect inside the domain: the original is `redirected`, and what the response came to is the target's. */
function withTarget(row: LeasedUrl, arrival: Answered, end: RowEnd): RowEnd {
  // A front page that fails today is none of the article's addresses either.
  if (arrival.moved === 'no' || isLedHome(row, arrival.identity)) return end;
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
    // Pages name an image by the address they know: it leads to the same bytes.
    ...(row.kind === 'image' && item.contentHash ? { contentHash: item.contentHash } : {}),
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
      executionId: row.executionId,
    },
  };
  return { ...end, items: [original, target] };
}
