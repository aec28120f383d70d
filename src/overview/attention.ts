import { reasonText, span } from '../explain/index.ts';
import { howToGiveBrowser } from '../frontier/index.ts';
import type { OverviewFacts } from './facts.ts';
import { jobTroubles } from './job-attention.ts';
import type { EmptySource, FailingChannel, HeldDomain, OpenCircuit, SinkTrouble } from './troubles.ts';
import { countText, numberText } from './words.ts';

/** A screen of the dashboard. */
export const screens = [
  'overview',
  'sources',
  'channels',
  'frontier',
  'domains',
  'jobs',
  'documents',
  'sinks',
  'health',
  'settings',
] as const;
export type Screen = (typeof screens)[number];

/** What a click does: `open` only leads somewhere. */
export const actionKinds = [
  'open',
  'poll_channel',
  'retry_channels',
  'reset_domain',
  'retry_job',
  'rebalance_jobs',
  'retry_dead_letters',
  'resume_sink',
  'switch_on',
] as const;
export type ActionKind = (typeof actionKinds)[number];

/** What an action is about: one thing by its id, or those that a filter of a screen's list leaves. */
export type ActionTarget = { screen: Screen; id: string | null; filter: Record<string, string> };

/** Something that needs somebody, in words, and what can be done about it with one click. */
export type Attention = {
  /** Stays the same while the trouble does. */
  id: string;
  severity: 'fail' | 'warn';
  sentence: string;
  action: { label: string; kind: ActionKind; target: ActionTarget } | null;
};

const mostItems = 20;
// So many of a kind are told one by one; more are told together.
const mostSingle = 3;

/** What needs somebody, worst first. */
export function decideAttention(facts: OverviewFacts): Attention[] {
  const items = [
    ...processTroubles(facts),
    ...restartTroubles(facts),
    ...switchTroubles(facts),
    ...renderingTroubles(facts),
    ...facts.sinks.flatMap((sink) => sinkTroubles(sink, facts.processes.now)),
    ...channelTroubles(facts),
    ...emptyTroubles(facts.emptySources),
    ...domainTroubles(facts.heldDomains, facts.processes.now),
    ...circuitTroubles(facts.openCircuits, facts.processes.now),
    ...jobTroubles(facts.jobs),
    ...deadTroubles(facts),
  ];
  // Stable: within a severity the order above stays.
  return items
    .toSorted((a, b) => Number(b.severity === 'fail') - Number(a.severity === 'fail'))
    .slice(0, mostItems);
}

const open = (label: string, screen: Screen, filter: Record<string, string> = {}): Attention['action'] => ({
  label,
  kind: 'open',
  target: { screen, id: null, filter },
});

const since = (date: Date, now: Date): string => span(now.getTime() - date.getTime());

function processTroubles({ processes, counts }: OverviewFacts): Attention[] {
  const { fetchers, schedulers, away, failingLoops } = processes;
  const items: Attention[] = [];
  const health = open('Show processes', 'health');
  const add = (id: string, severity: Attention['severity'], sentence: string): void => {
    items.push({ id, severity, sentence, action: health });
  };
  if (fetchers === 0)
    add(
      'no_fetcher',
      'fail',
      `No fetcher is alive: nothing is fetched, and ${countText(counts.pendingUrls, 'URL')} ${counts.pendingUrls === 1 ? 'waits' : 'wait'}.`,
    );
  else if (away > 0)
    add(
      'outage',
      away === fetchers ? 'fail' : 'warn',
      `${numberText(away)} of ${countText(fetchers, 'fetcher')} ${away === 1 ? 'reaches' : 'reach'} nobody: the network seems to be down there.`,
    );
  if (schedulers === 0)
    add(
      'no_scheduler',
      'fail',
      'No scheduler is alive: no feeds are found, and nothing is indexed or delivered.',
    );
  for (const { name, role, host, pid } of failingLoops.slice(0, mostSingle))
    add(
      `loop:${host}:${pid}:${name}`,
      'warn',
      `The ${name} loop of the ${role} process ${pid} on ${host} fails again and again.`,
    );
  if (failingLoops.length > mostSingle)
    add(
      'loops',
      'warn',
      `${countText(failingLoops.length - mostSingle, 'more loop')} ${failingLoops.length - mostSingle === 1 ? 'fails' : 'fail'} again and again.`,
    );
  return items;
}

// Now and then a process is replaced, as one that has used much memory; one that stalled or crashed has a bug.
const manyRestarts = 3;

function restartTroubles({ processes }: OverviewFacts): Attention[] {
  const action = open('Show processes', 'health');
  const often = processes.restarted.filter(({ times, isGrave }) => isGrave || times >= manyRestarts);
  const items = often.slice(0, mostSingle).map(({ role, host, pid, times, why }): Attention => {
    const because = why === null ? '' : `, last because ${why}`;
    return {
      id: `restarts:${host}:${role}:${pid}`,
      severity: 'warn',
      sentence: `The ${role} process ${pid} on ${host} was restarted ${times === 1 ? 'once' : `${numberText(times)} times`} in the last hour${because}.`,
      action,
    };
  });
  const { databaseRestartedAt: at, now } = processes;
  if (at !== null)
    items.push({
      id: 'database_restarted',
      severity: 'warn',
      sentence: `The database was started again ${since(at, now)} ago, while processes worked with it.`,
      action,
    });
  return items;
}

function switchTroubles({ switches, processes: { now } }: OverviewFacts): Attention[] {
  return switches
    .filter((one) => !one.on)
    .map(({ name, changedAt, changedBy }): Attention => {
      const by =
        changedAt === null
          ? ''
          : `, ${since(changedAt, now)} ago by ${(changedBy ?? 'somebody').slice(0, 100)}`;
      return {
        id: `switch:${name}`,
        severity: name === 'fetching' ? 'fail' : 'warn',
        sentence: `The switch ${name.replaceAll('_', ' ')} was turned off${by}.`,
        action: {
          label: 'Switch it on',
          kind: 'switch_on',
          target: { screen: 'settings', id: name, filter: {} },
        },
      };
    });
}

/** Pages that wait for a browser nobody has; of a switch that is off another line tells. */
function renderingTroubles({ rendering, switches }: OverviewFacts): Attention[] {
  const { waiting, groups } = rendering;
  const isOff = switches.some(({ name, on }) => name === 'rendering' && !on);
  if (waiting === 0 || groups.length > 0 || isOff) return [];
  return [
    {
      id: 'no_browser',
      severity: 'warn',
      sentence: `${countText(waiting, 'page')} ${waiting === 1 ? 'needs' : 'need'} JavaScript and ${waiting === 1 ? 'waits' : 'wait'}: no fetcher has a browser. ${howToGiveBrowser}`,
      action: open('Show them', 'frontier', { status: 'needs_render' }),
    },
  ];
}

const lagMs = 15 * 60_000;

function sinkTroubles(sink: SinkTrouble, now: Date): Attention[] {
  const { name, failingSince, waitingSince } = sink;
  const items: Attention[] = [];
  const of = (id: null | string): ActionTarget => ({ screen: 'sinks', id, filter: {} });
  const add = (
    what: string,
    severity: Attention['severity'],
    sentence: string,
    action: Attention['action'],
  ) => items.push({ id: `sink_${what}:${name}`, severity, sentence, action });
  const show: Attention['action'] = { label: 'Show the sink', kind: 'open', target: of(name) };
  const waits = `${countText(sink.waiting, 'document')} ${sink.waiting === 1 ? 'waits' : 'wait'}`;
  if (!sink.enabled)
    add('paused', 'warn', `The sink ${name} is paused: nothing is kept for it.`, {
      label: 'Let it go on',
      kind: 'resume_sink',
      target: of(name),
    });
  else if (failingSince !== null)
    add(
      'failing',
      'fail',
      `The sink ${name} has failed for ${since(failingSince, now)}; ${waits}: ${sink.error ?? 'no reason is known'}`,
      show,
    );
  else if (waitingSince !== null && now.getTime() - waitingSince.getTime() > lagMs)
    add(
      'behind',
      'warn',
      `The sink ${name} is behind: ${waits}, the eldest for ${since(waitingSince, now)}.`,
      show,
    );
  if (sink.deadLetters > 0)
    add(
      'dead_letters',
      'warn',
      `The sink ${name} has refused ${countText(sink.deadLetters, 'delivery', 'deliveries')} for good.`,
      { label: 'Try them again', kind: 'retry_dead_letters', target: of(name) },
    );
  return items;
}

function channelTroubles({ counts, failingChannels, processes: { now } }: OverviewFacts): Attention[] {
  const failedFor = ({ failingSince }: FailingChannel): string =>
    failingSince === null ? '' : ` for ${since(failingSince, now)}`;
  if (failingChannels.length > mostSingle)
    return [
      {
        id: 'channels',
        severity: 'warn',
        sentence: `${countText(counts.failingChannels, 'channel')} fail; the worst, ${failingChannels[0]!.url.slice(0, 200)}, has failed ${numberText(failingChannels[0]!.errorsInRow)} times in a row${failedFor(failingChannels[0]!)}.`,
        action: {
          label: 'Try all of them again',
          kind: 'retry_channels',
          target: { screen: 'channels', id: null, filter: { failing: 'true' } },
        },
      },
    ];
  return failingChannels.map((channel) => ({
    id: `channel:${channel.id}`,
    severity: 'warn',
    sentence: `The channel ${channel.url.slice(0, 200)} has failed${failedFor(channel)} (${channel.errorKind ?? 'unknown'}, ${countText(channel.errorsInRow, 'error')} in a row).`,
    action: {
      label: 'Poll it now',
      kind: 'poll_channel',
      target: { screen: 'channels', id: String(channel.id), filter: {} },
    },
  }));
}

/** Sources that bring nothing and never will by themselves. */
function emptyTroubles(sources: readonly EmptySource[]): Attention[] {
  const [first] = sources;
  if (first !== undefined && sources.length > mostSingle)
    return [
      {
        id: 'empty_sources',
        severity: 'warn',
        sentence: `${countText(first.all, 'source')} bring nothing: no feed or sitemap of theirs is known, of ${first.name.slice(0, 200)} for one.`,
        action: open('Show them', 'sources', { status: 'empty' }),
      },
    ];
  return sources.map(({ slug, name }) => ({
    id: `empty_source:${slug}`,
    severity: 'warn',
    sentence: `${name.slice(0, 200)} brings nothing: no feed or sitemap of it is known, or it could not be reached.`,
    action: { label: 'Show the source', kind: 'open', target: { screen: 'sources', id: slug, filter: {} } },
  }));
}

function domainTroubles(domains: readonly HeldDomain[], now: Date): Attention[] {
  const [first] = domains;
  if (first !== undefined && domains.length > mostSingle)
    return [
      {
        id: 'domains',
        severity: 'warn',
        sentence: `${countText(first.all, 'domain')} that rest have URLs waiting, ${first.name} most of all (${numberText(first.queued)}).`,
        action: open('Show them', 'domains', { status: first.status }),
      },
    ];
  return domains.map((domain) => ({
    id: `domain:${domain.name}`,
    severity: 'warn',
    sentence: `${domain.name} has been ${domain.status} for ${since(domain.since, now)} (${reasonText(domain.reason).slice(0, 200)}); ${countText(domain.queued, 'URL')} ${domain.queued === 1 ? 'waits' : 'wait'}.`,
    action: {
      label: 'Reset it',
      kind: 'reset_domain',
      target: { screen: 'domains', id: domain.name, filter: {} },
    },
  }));
}

function circuitTroubles(circuits: readonly OpenCircuit[], now: Date): Attention[] {
  const [first] = circuits;
  if (first !== undefined && circuits.length > mostSingle)
    return [
      {
        id: 'circuits',
        severity: 'warn',
        sentence: `${countText(first.all, 'domain')} refused us again and again and are left alone for a while, ${first.name} among them.`,
        action: open('Show domains', 'domains'),
      },
    ];
  return circuits.map((circuit) => {
    const next =
      circuit.nextAt === null || circuit.nextAt.getTime() - now.getTime() < 1000
        ? 'it is tried again now'
        : `it is tried again in ${since(now, circuit.nextAt)}`;
    return {
      id: `circuit:${circuit.name}`,
      severity: 'warn',
      sentence: `${circuit.name} refused us again and again; ${next}, and ${countText(circuit.queued, 'URL')} ${circuit.queued === 1 ? 'waits' : 'wait'}.`,
      action: {
        label: 'Show the domain',
        kind: 'open',
        target: { screen: 'domains', id: circuit.name, filter: {} },
      },
    };
  });
}

// Pages vanish every day. Somebody should look when it is more than now and then.
const manyDead = 20;
const deadShare = 0.05;

function deadTroubles({ trend: { diedToday, fetchedToday } }: OverviewFacts): Attention[] {
  if (diedToday < manyDead || diedToday < (diedToday + fetchedToday) * deadShare) return [];
  return [
    {
      id: 'dead_urls',
      severity: 'warn',
      sentence: `${countText(diedToday, 'URL')} ended as dead in the last day, beside ${numberText(fetchedToday)} that were fetched.`,
      action: open('Show them', 'frontier', { status: 'dead' }),
    },
  ];
}
