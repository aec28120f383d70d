import { howToGiveBrowser } from '../frontier/index.ts';
import { urlRulesText } from './describe-rules.ts';
import { mostAhead, mostPages, type RowFacts, type SlotFacts, type UrlFacts } from './load-url.ts';
import { deadReasonText, failureText } from './reasons.ts';
import { ago, holdText, isHeld, outageText, reasonText, seconds, switchTexts, until } from './words.ts';

/** The answer in words: what it is, why it waits or ended, and when something happens next. */
export type Explanation = { state: string; sentences: string[]; expectedAt: Date | null };

/** Turns facts into a colleague's answer. Pure. */
export function describeUrl(facts: UrlFacts): Explanation {
  const { row } = facts;
  if (row === null) {
    const { robots } = facts;
    const isForbidden = robots.known && !robots.unavailable && !robots.allowed;
    return {
      state: 'unknown',
      sentences: [
        'This URL was never submitted.',
        ...rulesText(facts),
        ...(isForbidden ? [`It would not be fetched: robots.txt forbids it${ruleText(robots)}.`] : []),
        ...trapText(facts),
      ],
      expectedAt: null,
    };
  }
  const sentences = [originText(row, facts.now), ...rulesText(facts)];
  const { state, words, expectedAt } = describeState(facts, row);
  sentences.push(...words);
  return { state, sentences, expectedAt };
}

function originText(row: RowFacts, now: Date): string {
  const source = row.sourceName === null ? '' : ` for ${row.sourceName}`;
  const parent = row.parentUrl === null ? '' : `, found on ${row.parentUrl}`;
  return `${row.kind === 'article' || row.kind === 'image' ? 'An' : 'A'} ${row.kind} discovered ${ago(row.discoveredAt, now)} by ${row.origin}${source}${parent}.`;
}

// Channels and probes have keys of their own.
const rulesText = ({ url, row, rules, isKeyOlder }: UrlFacts): string[] =>
  row?.kind === 'channel' || row?.kind === 'probe' ? [] : urlRulesText(url, rules, isKeyOlder);

type State = { state: string; words: string[]; expectedAt: Date | null };

function describeState(facts: UrlFacts, row: RowFacts): State {
  const ended = (state: string, ...words: string[]): State => ({
    state,
    words,
    expectedAt: isHeld(row.dueAt, facts.now) ? null : row.dueAt,
  });
  switch (row.status) {
    case 'fetched':
      return {
        ...ended(
          'fetched',
          `It was fetched ${ago(row.lastFetchedAt, facts.now)}${row.hasDocument ? ' and its document is stored' : ''}.`,
          ...imageText(row),
          ...refreshText(facts, row),
        ),
        ...(facts.switches.refresh ? {} : { expectedAt: null }),
      };
    case 'redirected':
      return ended('redirected', `It redirects to ${row.redirectedTo}, which has a row of its own.`);
    case 'duplicate':
      return describeDuplicate(facts, row);
    case 'needs_render':
      return describeRendering(facts, row);
    case 'dead':
      return ended('dead', `It was given up: ${deadReasonText(row.errorCode)}${detail(row)}.`);
    case 'pending':
    case 'failed':
      return describeWaiting(facts, row);
  }
}

const notWhileHeld =
  'It is not looked at again while its source is disabled or not polled ("outrider sources").';

/** A page with the text of another, for the first time or for good. */
function describeDuplicate({ now, switches }: UrlFacts, row: RowFacts): State {
  const other = row.duplicateUrl === null ? 'another address of this domain' : row.duplicateUrl;
  const words = [
    row.hasDocument
      ? `When it was fetched ${ago(row.lastFetchedAt, now)} it showed the text of ${other}, so its own document stayed as it was.`
      : `Its text is the same as that of ${other}, so no second document was made.`,
  ];
  if (isHeld(row.dueAt, now))
    return { state: 'duplicate', words: [...words, notWhileHeld], expectedAt: null };
  if (row.dueAt !== null)
    words.push(
      row.dueAt <= now
        ? 'It is due for a second look, should that have been a passing notice.'
        : `It is looked at once more ${until(row.dueAt, now)}, should that have been a passing notice.`,
    );
  if (row.dueAt !== null && !switches.refresh) words.push(switchTexts.refresh);
  return { state: 'duplicate', words, expectedAt: switches.refresh ? row.dueAt : null };
}

/** A page that needs a browser: in one, next in turn, or without hope of one. */
function describeRendering({ slot, renderGroups, switches, now }: UrlFacts, row: RowFacts): State {
  const why =
    row.errorCode === 'render_always'
      ? 'The pages of its source are always rendered'
      : 'The page needs JavaScript';
  const say = (words: string[], expectedAt: Date | null = null): State => ({
    state: 'needs_render',
    words,
    expectedAt,
  });
  if (slot?.inFlight) return say([`${why}; it is in a browser now.`], now);
  const waits = `${why}; it waits for a rendering fetcher`;
  if (!switches.rendering) return say([`${waits}.`, switchTexts.rendering]);
  const group = slot === null || slot.pool === 'default' ? '' : ` of the group "${slot.pool}"`;
  if (!renderGroups.includes(slot?.pool ?? 'default'))
    return say([`${waits}, and no fetcher${group} has a browser.`, howToGiveBrowser]);
  const nextAt = slot?.nextAt ?? null;
  return say([`${waits}, of which there is one; its domain may be asked ${until(nextAt, now)}.`], nextAt);
}

function imageText({ image }: RowFacts): string[] {
  if (image === null) return [];
  const { format, width, height, bytes, sha256, pages } = image;
  const many =
    pages === 1
      ? 'One page shows it'
      : `${pages >= mostPages ? `${mostPages} or more` : pages} pages show it`;
  return [
    `It is stored as ${sha256}: ${format.toUpperCase()}, ${width} × ${height} pixels, ${bytes} bytes.`,
    `${many}; the same image under another address is stored once.`,
  ];
}

function refreshText(facts: UrlFacts, row: RowFacts): string[] {
  if (row.dueAt === null) return [];
  if (isHeld(row.dueAt, facts.now)) return [notWhileHeld];
  if (!facts.switches.refresh)
    return [`It would be looked at again ${until(row.dueAt, facts.now)}.`, switchTexts.refresh];
  if (row.dueAt > facts.now) return [`It is looked at again ${until(row.dueAt, facts.now)}.`];
  return ['It is due for another look and is readied as soon as the budget of its domain has room.'];
}

function describeWaiting(facts: UrlFacts, row: RowFacts): State {
  const { slot, now } = facts;
  const words: string[] = [];
  if (row.status === 'failed' && row.tries > 0)
    words.push(
      `${row.tries === 1 ? 'One try has' : `${row.tries} tries have`} failed${row.errorCode === null ? '' : `, the last with ${row.errorCode}`}${failureDetail(row)}.`,
    );
  else if (row.errorCode !== null)
    words.push(`The last attempt ended with ${row.errorCode}${failureDetail(row)}.`);
  if (isHeld(row.dueAt, now)) {
    words.push(
      'It is held: its source is disabled or not polled ("outrider sources"). Enabling it gives its time back.',
    );
    return { state: 'held', words, expectedAt: null };
  }
  if (!row.ready) {
    const what =
      row.kind === 'channel' ? 'The next poll is' : row.status === 'failed' ? 'The next try is' : 'It is';
    words.push(`${what} due ${until(row.dueAt, now)}.`);
    if (!facts.switches.fetching) words.push(switchTexts.fetching);
    else if (row.kind === 'channel' && !facts.switches.polling) words.push(switchTexts.polling);
    const rest = slot === null ? { words: [], endsAt: now } : restText(facts, slot, row);
    words.push(...rest.words);
    const { fetching, polling } = facts.switches;
    const isOff = !fetching || (row.kind === 'channel' && !polling);
    return {
      state: row.status === 'failed' ? 'waits for its retry' : 'not due yet',
      words,
      expectedAt: isOff ? null : later(row.dueAt, rest.endsAt),
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
  if (row.status === 'pending' && row.fetchCount > 0 && row.kind !== 'channel')
    words.push(`It was fetched ${ago(row.lastFetchedAt, now)} and is due for another look.`);
  return describeQueue(facts, slot, row, words);
}

/** What a resting domain means for a row: when it ends, and what may happen before. */
function restText(facts: UrlFacts, slot: SlotFacts, row: RowFacts): { words: string[]; endsAt: Date | null } {
  const { now, domain } = facts;
  if (slot.domainStatus !== 'blocked' && slot.domainStatus !== 'unreachable')
    return { words: [], endsAt: now };
  const why = `Its domain is ${slot.domainStatus}: ${reasonText(slot.statusReason)}.`;
  if (slot.isPermanent)
    return {
      words: [why, `It stays so until somebody resets it: "outrider domain reset ${domain} --reason …".`],
      endsAt: null,
    };
  if (slot.restUntil === null || slot.restUntil <= now)
    return { words: [`${why} Its rest is over; it is tried when it is leased.`], endsAt: slot.nextAt };
  const trial = slot.nextAt !== null && slot.nextAt < slot.restUntil ? slot.nextAt : null;
  const rest = `The rest ends ${until(slot.restUntil, now)}.`;
  if (trial === null || (!slot.hasChannel && slot.statusReason !== 'robots_denied'))
    return { words: [why, rest], endsAt: slot.restUntil };
  if (slot.statusReason === 'robots_denied')
    return {
      words: [why, `${rest} Before that its robots.txt is read once a day, next ${until(trial, now)}.`],
      endsAt: slot.restUntil,
    };
  return {
    words: [why, `${rest} Before that one channel is tried once a day, next ${until(trial, now)}.`],
    endsAt: row.kind === 'channel' ? trial : slot.restUntil,
  };
}

/** What holds a ready row besides its place in the queue, and until when; null: nobody knows. */
function holdsOf(facts: UrlFacts, slot: SlotFacts, row: RowFacts): { words: string[]; endsAt: Date | null } {
  const { words, endsAt } = restText(facts, slot, row);
  let end = endsAt;
  if (slot.isCircuitOpen && words.length === 0)
    words.push('The domain refused us repeatedly: its circuit is open and one URL at a time is let through.');
  if (row.budgeted && !slot.isBudgetOpen) {
    words.push(`The budget of its domain is used up; it renews ${until(slot.budgetUntil, facts.now)}.`);
    end = later(end, slot.budgetUntil);
  }
  if (!facts.switches.fetching) {
    words.push(switchTexts.fetching);
    end = null;
  } else if (row.kind === 'channel' && !facts.switches.polling) {
    words.push(switchTexts.polling);
    end = null;
  }
  return { words, endsAt: end };
}

/** The later of two times; null: one of them never comes. */
const later = (a: Date | null, b: Date | null): Date | null =>
  a === null || b === null ? null : new Date(Math.max(a.getTime(), b.getTime()));

function describeQueue(facts: UrlFacts, slot: SlotFacts, row: RowFacts, words: string[]): State {
  const { now } = facts;
  const holds = holdsOf(facts, slot, row);
  words.push(...holds.words);
  if (facts.fetchersAlive === 0) words.push('No fetcher is running: start one with "outrider up".');
  if (facts.isOutage) words.push(outageText);
  words.push(...robotsText(facts, slot, row));
  if (row.origin === 'spider' || row.origin === 'archive') words.push(...trapText(facts));
  if (slot.leaseOwner !== null)
    words.push(`Its domain is being worked on by ${slot.leaseOwner} until ${until(slot.leaseUntil, now)}.`);
  else if (slot.nextAt !== null && slot.nextAt > now)
    words.push(`Its domain may be asked again ${until(slot.nextAt, now)} (${holdText(slot.holdReason)}).`);
  else if (holds.words.length === 0 && !facts.isOutage)
    words.push('Its domain is due and waits for a free fetcher.');
  const many = facts.ahead >= mostAhead ? `${mostAhead} or more` : String(facts.ahead);
  if (facts.ahead > 0)
    words.push(`${many} ${facts.ahead === 1 ? 'URL of the domain goes' : 'URLs of the domain go'} first.`);
  const freeAt = slot.leaseOwner === null ? slot.nextAt : now;
  const startsAt = later(later(freeAt, holds.endsAt), now);
  const expectedAt =
    facts.fetchersAlive === 0 || facts.isOutage || startsAt === null
      ? null
      : new Date(startsAt.getTime() + facts.ahead * slot.delayMs);
  if (expectedAt !== null)
    words.push(
      `Expected ${facts.ahead >= mostAhead ? 'not before' : 'about'} ${until(expectedAt, now)}, at one request every ${seconds(slot.delayMs)}.`,
    );
  return { state: 'waiting', words, expectedAt };
}

/** What robots.txt means for a row whose turn comes. */
function robotsText({ robots }: UrlFacts, slot: SlotFacts, row: RowFacts): string[] {
  if (!robots.known) return [];
  if (robots.unavailable)
    return ['robots.txt of its host could not be read; nothing is requested until it can.'];
  // Of a domain that is closed altogether nothing is given up: that it rests has been said.
  if (robots.allowed || slot.statusReason === 'robots_denied') return [];
  const forbids = `robots.txt forbids it${ruleText(robots)}`;
  if (row.ignoresDisallow) return [`${forbids}, which its source is set not to follow.`];
  return row.kind === 'channel'
    ? [`${forbids}; its poll will fail.`]
    : [`${forbids}; it will be given up when its turn comes.`];
}

const trapText = ({ trap, domain }: UrlFacts): string[] =>
  trap === null
    ? []
    : [
        `${trap.prefix} of its domain is a trap (${trap.reason}): links to it are not followed and what waits there is given up. "outrider domain reset ${domain} --reason …" lifts that.`,
      ];

const ruleText = (robots: { line: number | null; rule: string | null }): string =>
  robots.line === null ? '' : ` (line ${robots.line}: ${robots.rule ?? ''})`;
const detail = (row: RowFacts): string => (row.errorText === null ? '' : ` (${row.errorText})`);
/** What the server or the network said, or else what the code stands for. */
const failureDetail = (row: RowFacts): string => {
  const words = row.errorText ?? failureText(row.errorCode);
  return words === null ? '' : ` (${words})`;
};
