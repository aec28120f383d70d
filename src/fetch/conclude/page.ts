import { decideRefresh } from '../../domains/index.ts';
import type { LeasedUrl, SettleItem } from '../../frontier/index.ts';
import { headerRefreshTarget } from '../../html/index.ts';
import { identifyUrl } from '../../url/index.ts';
import { retryAfterOf } from '../client/index.ts';
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
import { decideLedAstray, isLedToList } from './led-astray.ts';
import { concludeLeft, concludeRefresh, withTarget } from './redirects.ts';
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
      return concludeForbiddenGate(row, arrival, context) ?? concludeGate(row, arrival, context);
    case 'dead':
      return ended(row, dead(row, arrival.code, arrival.text), { httpStatus: arrival.status, fetched: true });
    case 'left':
      return concludeLeft(row, arrival, context);
    case 'answered':
      return concludeMoved(row, arrival, context) ?? concludeAnswer(row, arrival, context);
  }
}

const dead = (row: LeasedUrl, errorCode: string, errorText: string): Verdict => ({
  status: 'dead',
  dueInMs: null,
  tries: row.tries + 1,
  errorCode,
  errorText,
});

/** The end of a page whose redirects led astray: where to is none of its addresses, and what comes of it is its own. */
function concludeMoved(
  row: LeasedUrl,
  arrival: Answered,
  context: RowContext,
): Promise<RowEnd> | RowEnd | null {
  const { result, identity, moved } = arrival;
  if (moved === 'no') return null;
  const astray = decideLedAstray(
    row,
    { to: identity, isLasting: moved === 'permanently' },
    factsOf(row, context),
  );
  if (astray === null) return null;
  if (result.outcome !== 'response' || result.status < 200 || result.status >= 300)
    return concludeAnswer(row, { ...arrival, moved: 'no' }, context);
  return ended(row, astray.verdict, { httpStatus: result.status, fetched: true }, astray.domain);
}

/** robots.txt forbids the pages that ask for a login more often than not: that is not what is the matter with the page. */
function concludeForbiddenGate(
  row: LeasedUrl,
  { gate, url, hops }: Extract<Arrival, { end: 'gate' }>,
  context: RowContext,
): RowEnd | null {
  if (gate.answer !== 'blocked' || hops === 0) return null;
  const to = identifyUrl(url);
  if (to.outcome === 'rejected') return null;
  const astray = decideLedAstray(row, { to: to.identity, isLasting: true }, factsOf(row, context));
  return astray && ended(row, astray.verdict, {}, astray.domain);
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
  const other = gate.unreached !== null ? nextEntryUrl(row) : null;
  if (other !== null) {
    // The domain is known by name only: which of its addresses answers is found by asking.
    const soon: Verdict = { ...fine(), status: 'pending', dueInMs: 1000, tries: row.tries };
    return ended(row, { ...soon, errorCode: gate.code, errorText: gate.text }, { url: other });
  }
  // Nothing answers at all: that is the URL's own failure. A host that answers without a secure connection forbids
  // everything for now, which costs no try, but it counts on the way to `unreachable` all the same.
  if (gate.unreached === 'dns' || gate.unreached === 'connect') {
    const { verdict, domain } = decideFailure(gate.unreached, gate.text, {
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
  return ended(row, waiting, {}, gate.unreached === null ? neutral : { signal: 'network', kind: 'tls' });
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

const factsOf = (row: LeasedUrl, { maxTries, probing }: RowContext) => ({
  tries: row.tries,
  maxTries,
  probing,
});

async function concludeAnswer(row: LeasedUrl, arrival: Answered, context: RowContext): Promise<RowEnd> {
  const facts = factsOf(row, context);
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
  const facts = factsOf(row, context);
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
    const decision = decideStatus(result.status, retryAfterOf(result.headers), facts);
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
  const to = result.status === 204 ? null : headerRefreshTarget(result.headers.refresh, arrival.url);
  if (result.body.length === 0 && to !== null) return concludeRefresh(row, result.status, to, context);
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
    const end = ended(
      row,
      decision.verdict,
      { ...answered, validationStatus: 'rejected', rejectionReason: ingested.reason },
      decision.domain,
    );
    // A gate that redirects led to stands before the page that was asked for, which is tried again.
    return decision.domain.signal === 'refused' ? end : withTarget(row, arrival, end);
  }
  if (ingested.outcome === 'moved') return concludeRefresh(row, result.status, ingested.to, context);
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
  if (isLedToList(row, { url: arrival.url, isMoved }, document)) {
    const to = { url: arrival.url, isLasting: arrival.moved !== 'temporarily' };
    const { verdict, domain } = decideLedToListing(to, facts);
    return ended(row, verdict, answered, domain);
  }
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
  if ((item.becomes ?? row.kind) !== 'article') return [fine(), item];
  const refreshSeconds = decideRefresh(row.refreshSeconds, changed, context.refresh);
  const verdict = fine();
  verdict.dueInMs = refreshSeconds * 1000;
  item.refreshSeconds = refreshSeconds;
  return [verdict, item];
}
