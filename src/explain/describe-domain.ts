import type { DomainDetails } from '../domains/index.ts';
import { domainRulesText } from './describe-rules.ts';
import type { DomainFacts } from './load-domain.ts';
import { ago, holdText, isHeld, many, outageText, reasonText, seconds, switchTexts, until } from './words.ts';

/** The answer in words: where a domain stands and why, what happens next, and what an operator can do about it. */
export type DomainExplanation = {
  state: string;
  sentences: string[];
  /** When something happens by itself; null: not by itself, or nothing waits. */
  expectedAt: Date | null;
  /** Commands that would change something. */
  advice: string[];
};

/** Turns facts into a colleague's answer. Pure. */
export function describeDomain(facts: DomainFacts): DomainExplanation {
  const { domain } = facts;
  return {
    state: domain.status,
    sentences: [
      ...statusText(facts),
      ...restText(facts),
      ...workText(facts),
      queueText(facts),
      ...budgetText(facts),
      delayText(facts),
      ...circuitText(facts),
      ...groupText(facts),
      ...domainRulesText(facts.domain.rules, facts.domain.rekey, facts.now),
      ...archivesText(facts),
      ...siteText(facts),
      scoreText(domain),
    ],
    expectedAt: expectedAt(facts),
    advice: adviceOf(facts),
  };
}

const dayMs = 86_400_000;

const isResting = ({ status }: DomainDetails): boolean => status === 'blocked' || status === 'unreachable';

/** Whether all that waits is held: when its source is followed again nobody knows. */
const isAllHeld = ({ domain, now }: DomainFacts): boolean => isHeld(domain.wakeAt, now);

function statusText(facts: DomainFacts): string[] {
  const { domain, events, now } = facts;
  const since = ago(domain.since, now);
  switch (domain.status) {
    case 'pending':
      return [
        `It was first seen ${ago(domain.firstSeenAt, now)}${domain.dataset === null ? '' : ` from ${domain.dataset}`} and was never crawled.`,
      ];
    case 'active':
      return [`It is being crawled: work remains. It was last asked ${ago(domain.lastCrawledAt, now)}.`];
    case 'exhausted':
      return [
        isAllHeld(facts)
          ? `It was exhausted ${since}: no page of it can be asked. It goes on when new URLs arrive or its source is followed again.`
          : `It was exhausted ${since}: no page of it waits. It goes on when new URLs arrive or a refresh is due.`,
      ];
    case 'blocked':
    case 'unreachable': {
      const last = events.find((one) => one.to === domain.status);
      const actor = last === undefined ? '' : `, by ${last.actor}`;
      const verb = domain.status === 'blocked' ? 'was blocked' : 'became unreachable';
      return [`It ${verb} ${since}${actor}: ${reasonText(domain.reason)}.`];
    }
  }
}

function restText({ domain, hasChannel, now }: DomainFacts): string[] {
  if (!isResting(domain)) return [];
  if (domain.isPermanent) {
    const third =
      domain.blockCount >= 3 ? [`It was blocked ${domain.blockCount} times, which is for good.`] : [];
    return [...third, 'It stays so until somebody resets it; nothing is tried.'];
  }
  if (domain.restUntil === null || domain.restUntil <= now)
    return ['Its rest is over: whoever leases it next makes it active.'];
  const words = [`The rest ends ${until(domain.restUntil, now)}; it is active again when it is leased then.`];
  if (domain.status === 'blocked') words.push(`This is block ${domain.blockCount}; the third is for good.`);
  if (domain.nextAt !== null && domain.nextAt < domain.restUntil)
    words.push(
      domain.reason === 'robots_denied'
        ? `Its robots.txt is read again once a day, next ${until(domain.nextAt, now)}; if it allows us, the rest ends.`
        : hasChannel
          ? `One channel is tried once a day, next ${until(domain.nextAt, now)}; if it answers, the rest ends.`
          : 'It has no feed or sitemap that could be tried before.',
    );
  return words;
}

function workText({ domain, switches, fetchersAlive, isOutage, now }: DomainFacts): string[] {
  const words: string[] = [];
  if (!switches.fetching) words.push(switchTexts.fetching);
  else if (fetchersAlive === 0) words.push('No fetcher is running: start one with "outrider up".');
  else if (isOutage) words.push(outageText);
  const { lease } = domain;
  if (lease !== null)
    words.push(
      lease.until > now
        ? `${lease.owner} works on it, with ${many(lease.inFlight, 'URL')} in hand; its lease ends ${until(lease.until, now)} unless it is renewed.`
        : `${lease.owner} held it and fell silent ${ago(lease.until, now)}; the next lease takes it over.`,
    );
  else if (words.length === 0 && !isResting(domain) && domain.top !== null)
    words.push(
      domain.nextAt !== null && domain.nextAt > now
        ? `It may be asked again ${until(domain.nextAt, now)} (${holdText(domain.hold)}).`
        : `It is due and waits for a free fetcher${domain.pool === 'default' ? '' : ` of the group "${domain.pool}"`}.`,
    );
  return words;
}

function queueText(facts: DomainFacts): string {
  const { domain, now } = facts;
  const held = domain.budgeted === 0 ? '' : `, ${domain.budgeted} of them under its budget`;
  const ready =
    domain.queued === 0 ? 'No URL is ready' : `${many(domain.queued, 'URL is', 'URLs are')} ready${held}`;
  const next =
    domain.wakeAt === null
      ? ''
      : isAllHeld(facts)
        ? '; what else waits is held while its source is disabled or not polled ("outrider sources")'
        : `; the next becomes due ${until(domain.wakeAt, now)}`;
  const counts = [
    `${many(domain.pagesKnown, 'page')} known`,
    `${domain.pagesCrawled} crawled`,
    many(domain.documents, 'document'),
    many(domain.errorsTotal, 'error'),
  ];
  return `${ready}${next}. ${counts.join(', ')}.`;
}

function budgetText({ domain, switches, now }: DomainFacts): string[] {
  if (!switches.budgets) return ['Budgets are switched off.'];
  const { max, configured, left, until: ends, isOpen } = domain.budget;
  const most = max ?? configured;
  if (most === 0 && max === null) return ['Its runs have no limit of pages.'];
  if (most === 0) return ['Its own budget is no pages: what links, archives and refreshes bring is held.'];
  const size = most === null ? 'the configured number of pages' : many(most, 'page');
  if (left === null || ends === null || ends <= now) return [`Its next run has a budget of ${size}.`];
  if (!isOpen) return [`Its budget of ${size} is used up; it renews ${until(ends, now)}.`];
  return [`${left} of its budget of ${size} are left; it renews ${until(ends, now)}.`];
}

function delayText({ domain: { delay }, robots }: DomainFacts): string {
  const parts = [
    // None was asked for, as far as is known.
    (delay.robotsMs ?? 0) === 0 ? null : robotsDelayText(delay.robotsMs!, robots),
    delay.configuredMs === null ? null : `an operator set ${seconds(delay.configuredMs)}`,
    (delay.sourceMs ?? 0) === 0 ? null : `its source asks for ${seconds(delay.sourceMs!)}`,
    delay.penaltyMs === 0 ? null : `answers that asked us to wait have added ${seconds(delay.penaltyMs)}`,
  ].filter((part) => part !== null);
  const why = parts.length === 0 ? '' : ` (${parts.join(', ')})`;
  return `It gets one request every ${seconds(delay.totalMs)}${why}.`;
}

/** A delay that was cut is told with both numbers: the site asks for more than it gets. */
function robotsDelayText(robotsMs: number, robots: DomainFacts['robots']): string {
  const cut = robots.flatMap(({ crawlDelay }) => (crawlDelay?.capped === true ? [crawlDelay] : []));
  if (cut.length === 0) return `robots.txt asks for ${seconds(robotsMs)}`;
  const asked = Math.max(...cut.map((one) => one.askedSeconds));
  return `robots.txt asks for ${seconds(asked * 1000)}, which is cut to ${seconds(cut[0]!.seconds * 1000)}`;
}

function circuitText({ domain, now }: DomainFacts): string[] {
  const { isOpen, refusals, opens, networkFailures, networkSince } = domain.circuit;
  const words: string[] = [];
  if (isOpen)
    words.push(
      `Its circuit opened ${ago(opens.at(-1)?.at ?? null, now)}: one URL is let through at a time, and two good answers close it.`,
    );
  // Older ones are forgotten when it opens again.
  const lately = opens.filter(({ at }) => now.getTime() - at.getTime() < dayMs);
  if (lately.length > 0)
    words.push(`The circuit opened ${many(lately.length, 'time')} within a day; the third time blocks it.`);
  if (refusals.length > 0)
    words.push(`${many(refusals.length, 'refusal')} in a row: ${refusals.join(', ')}.`);
  if (networkFailures > 0)
    words.push(
      `${many(networkFailures, 'connection')} in a row failed, the first ${ago(networkSince, now)}.`,
    );
  return words;
}

/** Who pinned it, and whose wish had to give way. */
function groupText({ domain, pins }: DomainFacts): string[] {
  const [holds, ...others] = pins;
  if (holds === undefined) return [];
  const words =
    holds.group === domain.pool || domain.pool === 'render'
      ? [
          `Only fetchers of the group "${holds.group}" ask it, because the source ${holds.source} is pinned there.`,
        ]
      : [
          `The source ${holds.source} is pinned to the group "${holds.group}", but an operator gave it to "${domain.pool}".`,
        ];
  const overruled = others.filter((one) => one.group !== holds.group);
  if (overruled.length > 0)
    words.push(
      `${overruled.map((one) => `The source ${one.source} asks for "${one.group}"`).join('. ')}; the later wish holds.`,
    );
  return words;
}

function archivesText({ domain, archives, switches, now }: DomainFacts): string[] {
  if (archives === null) return [];
  const { tries } = archives;
  const of = (state: string): number => tries.filter((one) => one.state === state).length;
  const counts = (
    [
      [of('worked'), 'worked'],
      [of('failed'), 'did not'],
      [of('asked'), 'not answered yet'],
      [of('known'), 'known before'],
    ] as const
  ).filter(([count]) => count > 0);
  const tried =
    tries.length === 0
      ? 'No place was asked for its archives yet.'
      : `${many(tries.length, 'place')} ${tries.length === 1 ? 'was' : 'were'} thought of for its archives: ${counts.map(([count, word]) => `${count} ${word}`).join(', ')}.`;
  const [best] = tries.filter((one) => one.state === 'worked');
  return [
    tried,
    ...(best === undefined ? [] : [`The last that worked is ${best.url}.`]),
    !switches.archives
      ? 'Archive discovery is switched off.'
      : isResting(domain)
        ? 'They are not looked for while it rests.'
        : `They are looked for again ${until(archives.nextAt, now)}, if it has little else to do or a day has passed.`,
  ];
}

function siteText({ site, switches, now }: DomainFacts): string[] {
  const words = site.traps.map(
    ({ prefix, reason, cappedAt }) =>
      `${prefix} is a trap since ${ago(cappedAt, now)} (${reason}): nothing is fetched there until a reset.`,
  );
  const ended = site.pagination.filter((rule) => rule.endReason !== null);
  const walked = site.pagination.filter((rule) => rule.pages > 0);
  if (walked.length + ended.length > 0)
    words.push(
      `${many(walked.length, 'listing has', 'listings have')} further pages (${[...new Set(walked.map((rule) => rule.form))].join(', ') || 'none that worked'})${ended.length === 0 ? '' : `; ${many(ended.length, 'rule has', 'rules have')} ended and ${ended.length === 1 ? 'rests' : 'rest'} for 30 days`}.`,
    );
  if ((!switches.spider || !switches.pagination) && words.length > 0)
    words.push(switches.spider ? switchTexts.pagination : switchTexts.spider);
  const refused = site.refusedLinks.slice(0, 5).map(({ reason, links }) => `${reason} ${links}`);
  if (refused.length > 0) words.push(`Links not followed, by reason: ${refused.join(', ')}.`);
  return words;
}

function scoreText({ score, scoreTerms, shift }: DomainDetails): string {
  const terms = Object.entries(scoreTerms).map(([name, value]) => `${name} ${signed(value)}`);
  const effect = shift === 0 ? '' : `; it moves its spidered pages by ${signed(shift)} level`;
  return `Its score is ${Math.round(score)} (now: ${terms.join(', ')})${effect}.`;
}

const signed = (value: number): string => {
  const rounded = Math.round(value);
  return rounded > 0 ? `+${rounded}` : String(rounded);
};

function expectedAt(facts: DomainFacts): Date | null {
  const { domain, hasChannel, switches, fetchersAlive, isOutage, now } = facts;
  if (domain.isPermanent || !switches.fetching || fetchersAlive === 0 || isOutage) return null;
  if (domain.lease !== null && domain.lease.until > now) return now;
  if (isResting(domain))
    return hasChannel || domain.reason === 'robots_denied' ? domain.nextAt : domain.restUntil;
  if (domain.top === null) return isAllHeld(facts) ? null : domain.wakeAt;
  return domain.nextAt === null || domain.nextAt > now ? domain.nextAt : now;
}

function adviceOf(facts: DomainFacts): string[] {
  const { domain, switches, site } = facts;
  const { name } = domain;
  const advice: string[] = [];
  if (!switches.fetching) advice.push('outrider switch fetching on');
  if (isResting(domain)) advice.push(`outrider domain reset ${name} --reason "…"`);
  else if (!domain.budget.isOpen) advice.push(`outrider domain set ${name} --budget N`);
  if (domain.status === 'exhausted' && !isAllHeld(facts))
    advice.push(`outrider domain reset ${name} --reason "…" --all`);
  if (domain.lease !== null) advice.push(`outrider domain release ${name}`);
  if (domain.delay.penaltyMs > 0) advice.push(`outrider domain set ${name} --delay MS`);
  if (site.traps.length > 0 && !isResting(domain)) advice.push(`outrider domain reset ${name} --reason "…"`);
  if (domain.status !== 'blocked') advice.push(`outrider domain block ${name} --reason "…"`);
  return advice;
}
