import { mostAhead, type RowFacts, type SlotFacts, type UrlFacts } from './load-url.ts';

/** The answer in words: what it is, why it waits or ended, and when something happens next. */
export type Explanation = { state: string; sentences: string[]; expectedAt: Date | null };

// What a person wants to know behind each code; codes without an entry are shown as they are.
const deadReasons: Record<string, string> = {
  robots_blocked: 'robots.txt forbids it',
  not_found: 'the server said it does not exist (404)',
  gone: 'the server said it is gone for good (410)',
  legal: 'it is withheld for legal reasons (451)',
  forbidden: 'the server refused it on every try',
  max_retries: 'every try failed',
  unsupported_type: 'it is not a web page',
  redirect_loop: 'its redirects go in a circle',
  too_many_redirects: 'it redirects too often',
  crash_loop: 'it ended the worker three times in a row',
  soft_404: 'the page says that the article does not exist',
  too_short: 'the page is too short to be an article',
  no_text: 'the page has no text',
  empty: 'the answer had no body',
  refused_address: 'its address is private or not allowed',
  refused_port: 'its port is not allowed',
  removed: 'an operator removed it',
  cancelled: 'its job was cancelled',
  source_deleted: 'its source was deleted',
  channel_removed: 'no channel asks for it any more',
};

/** Turns facts into a colleague's answer. Pure. */
export function describeUrl(facts: UrlFacts): Explanation {
  const { row } = facts;
  if (row === null) {
    const robots =
      facts.robots.known && !facts.robots.allowed
        ? [` It would not be fetched: robots.txt forbids it${ruleText(facts.robots)}.`]
        : [];
    return {
      state: 'unknown',
      sentences: ['This URL was never submitted.', ...robots.map((one) => one.trim())],
      expectedAt: null,
    };
  }
  const sentences = [originText(row, facts.now)];
  const { state, words, expectedAt } = describeState(facts, row);
  sentences.push(...words);
  return { state, sentences, expectedAt };
}

function originText(row: RowFacts, now: Date): string {
  const source = row.sourceName === null ? '' : ` for ${row.sourceName}`;
  const parent = row.parentUrl === null ? '' : `, found on ${row.parentUrl}`;
  return `${row.kind === 'article' || row.kind === 'image' ? 'An' : 'A'} ${row.kind} discovered ${ago(row.discoveredAt, now)} by ${row.origin}${source}${parent}.`;
}

type State = { state: string; words: string[]; expectedAt: Date | null };

function describeState(facts: UrlFacts, row: RowFacts): State {
  const ended = (state: string, ...words: string[]): State => ({ state, words, expectedAt: row.dueAt });
  switch (row.status) {
    case 'fetched':
      return ended(
        'fetched',
        `It was fetched ${ago(row.lastFetchedAt, facts.now)}${row.hasDocument ? ' and its document is stored' : ''}.`,
        ...(row.dueAt === null ? [] : [`It is looked at again ${until(row.dueAt, facts.now)}.`]),
      );
    case 'redirected':
      return ended('redirected', `It redirects to ${row.redirectedTo}, which has a row of its own.`);
    case 'duplicate':
      return ended(
        'duplicate',
        'Its text is the same as that of another address of this domain, so no second document was made.',
      );
    case 'needs_render':
      return ended(
        'needs_render',
        'The page needs JavaScript; it waits for a rendering fetcher, and none is registered.',
      );
    case 'dead':
      return ended(
        'dead',
        `It was given up: ${deadReasons[row.errorCode ?? ''] ?? row.errorCode}${detail(row)}.`,
      );
    case 'pending':
    case 'failed':
      return describeWaiting(facts, row);
  }
}

function describeWaiting(facts: UrlFacts, row: RowFacts): State {
  const { slot, now } = facts;
  const words: string[] = [];
  if (row.status === 'failed')
    words.push(
      `${row.tries === 1 ? 'One try has' : `${row.tries} tries have`} failed${row.errorCode === null ? '' : `, the last with ${row.errorCode}`}${detail(row)}.`,
    );
  else if (row.errorCode !== null) words.push(`The last attempt ended with ${row.errorCode}${detail(row)}.`);
  if (!row.ready) {
    const what =
      row.kind === 'channel' ? 'The next poll is' : row.status === 'failed' ? 'The next try is' : 'It is';
    words.push(`${what} due ${until(row.dueAt, now)}.`);
    return {
      state: row.status === 'failed' ? 'waits for its retry' : 'not due yet',
      words,
      expectedAt: row.dueAt,
    };
  }
  if (slot === null)
    return {
      state: 'waiting',
      words: [...words, 'Its domain has no slot; run "outrider doctor".'],
      expectedAt: null,
    };
  if (slot.inFlight) {
    words.push(`It is in the batch that ${slot.leaseOwner} is fetching right now.`);
    return { state: 'fetching', words, expectedAt: now };
  }
  return describeQueue(facts, slot, words);
}

function describeQueue(facts: UrlFacts, slot: SlotFacts, words: string[]): State {
  const { now, robots } = facts;
  if (facts.fetchersAlive === 0) words.push('No fetcher is running: start one with "outrider up".');
  if (robots.known && !robots.allowed)
    words.push(`robots.txt forbids it${ruleText(robots)}; it will be given up when its turn comes.`);
  else if (robots.known && robots.unavailable)
    words.push('robots.txt of its host could not be read; nothing is requested until it can.');
  if (slot.leaseOwner !== null)
    words.push(
      `Its domain is being worked on by ${slot.leaseOwner} until ${until(slot.leaseUntil, now).replace(/^in /, 'in ')}.`,
    );
  else if (slot.nextAt > now)
    words.push(`Its domain may be asked again ${until(slot.nextAt, now)} (${holdText(slot)}).`);
  else words.push('Its domain is due and waits for a free fetcher.');
  const many = facts.ahead >= mostAhead ? `${mostAhead} or more` : String(facts.ahead);
  if (facts.ahead > 0)
    words.push(`${many} ${facts.ahead === 1 ? 'URL of the domain goes' : 'URLs of the domain go'} first.`);
  const startsAt = Math.max(now.getTime(), slot.leaseOwner === null ? slot.nextAt.getTime() : now.getTime());
  const expectedAt = facts.fetchersAlive === 0 ? null : new Date(startsAt + facts.ahead * slot.delayMs);
  if (expectedAt !== null)
    words.push(
      `Expected ${facts.ahead >= mostAhead ? 'not before' : 'about'} ${until(expectedAt, now)}, at one request every ${seconds(slot.delayMs)}.`,
    );
  return { state: 'waiting', words, expectedAt };
}

const holdTexts: Record<string, string> = {
  politeness: 'the gap between two requests',
  retry_after: 'the server asked us to wait',
  circuit: 'it refused us repeatedly',
  cooldown: 'the domain rests',
  robots: 'robots.txt could not be read',
  operator: 'an operator holds it',
};

const holdText = (slot: SlotFacts): string =>
  holdTexts[slot.holdReason ?? 'politeness'] ?? 'the gap between two requests';
const ruleText = (robots: { line: number | null; rule: string | null }): string =>
  robots.line === null ? '' : ` (line ${robots.line}: ${robots.rule ?? ''})`;
const detail = (row: RowFacts): string => (row.errorText === null ? '' : ` (${row.errorText})`);
const seconds = (ms: number): string => (ms % 1000 === 0 ? `${ms / 1000} s` : `${(ms / 1000).toFixed(1)} s`);

function span(ms: number): string {
  const s = Math.round(Math.abs(ms) / 1000);
  if (s < 90) return `${s} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  return s < 129_600 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86_400)} days`;
}

const ago = (date: Date | null, now: Date): string =>
  date === null ? 'never' : `${span(now.getTime() - date.getTime())} ago`;
const until = (date: Date | null, now: Date): string =>
  date === null ? 'never' : date <= now ? 'now' : `in ${span(date.getTime() - now.getTime())}`;
