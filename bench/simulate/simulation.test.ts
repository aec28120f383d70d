import { describe, expect, it } from 'vitest';
import { runCommand } from './command.ts';
import { rowFlag, width } from './frontier/index.ts';
import { Invariants } from './invariants.ts';
import { Distribution, mergeOutcomes } from './measure.ts';
import { makeSettings } from './settings.ts';
import { Simulation } from './simulation.ts';
import { drawPublishers } from './web.ts';

const startMs = Date.parse('2026-03-02T00:00:00Z');

/** A run of a small web. */
function run(changes: readonly (readonly [string, string])[] = [], domains = 40, days = 2): Simulation {
  const settings = makeSettings(changes);
  const publishers = drawPublishers(domains, 5, settings.web);
  const simulation = new Simulation(publishers, settings, {
    seed: 5,
    startMs,
    days,
    warmDays: 0.5,
    starvationMinutes: 60,
  });
  simulation.run();
  return simulation;
}

const requestsOf = (simulation: Simulation): number =>
  Object.values(simulation.measures.requests).reduce(
    (sum, counts) => sum + counts.reduce((all, one) => all + one, 0),
    0,
  );

async function command(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' };
  const code = await runCommand(args, {
    out: (text) => {
      said.out += `${text}\n`;
    },
    err: (text) => {
      said.err += `${text}\n`;
    },
    env: {},
  });
  return { code, ...said };
}

describe('a run', () => {
  it('is the same twice, and another one with other settings', () => {
    const [one, same, other] = [run(), run(), run([['switch.adaptive_intervals', 'off']])];
    expect(requestsOf(same)).toBe(requestsOf(one));
    expect(same.measures.discovery.mean).toBe(one.measures.discovery.mean);
    expect(requestsOf(other)).not.toBe(requestsOf(one));
  });

  it('keeps its invariants, finds what comes out and looks at it', () => {
    const { measures, invariants, tables } = run();
    expect(invariants.problems()).toEqual([]);
    expect(invariants.leastGapMs).toBeGreaterThanOrEqual(1000);
    expect(measures.discovered).toBeGreaterThan(200);
    // Everything that was found was asked for, or waits.
    const { rows } = tables;
    let articles = 0;
    for (let row = 0; row < rows.count; row += 1) if (!rows.has(row, rowFlag.channel)) articles += 1;
    expect(measures.known).toBeGreaterThan(articles / 2);
    expect(measures.discovery.count).toBeLessThan(measures.discovered);
  });

  it('obeys a longer delay, and fewer polls find news later', () => {
    const slow = run([['fetch.default_delay_ms', '5000']]);
    expect(slow.invariants.problems()).toEqual([]);
    expect(slow.invariants.leastGapMs).toBeGreaterThanOrEqual(5000);
    const [often, seldom] = ['15', '120'].map((minutes) =>
      run([
        ['switch.adaptive_intervals', 'off'],
        ['polling.feed_interval_minutes', minutes],
      ]),
    );
    expect(seldom!.measures.discovery.mean).toBeGreaterThan(2 * often!.measures.discovery.mean);
    expect(requestsOf(seldom!)).toBeLessThan(requestsOf(often!));
  });

  it('holds what archives ask for within the budget', () => {
    const changes = [
      ['web.archive_share', '1'],
      ['domains.max_pages_per_run', '20'],
    ] as const;
    const { measures, invariants, tables } = run(changes, 20, 2.5);
    expect(invariants.problems()).toEqual([]);
    // Runs of a day each, and what was readied waits.
    const { slots } = tables;
    const waiting = Array.from({ length: slots.count }, (_, domain) => slots.budgeted[domain * width]!);
    expect(waiting.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(1000);
    expect(measures.maxBacklog).toBeGreaterThan(1000);
  });

  it.each(['fifo', 'random'])('with leases in the order %s holds as well', (order) => {
    expect(run([['lease.order', order]]).invariants.problems()).toEqual([]);
  });
});

describe('what must hold', () => {
  it('is told when it does not', () => {
    const invariants = new Invariants(2, 60_000);
    invariants.started(0, 0);
    invariants.answered(0, 100, 1000);
    invariants.started(0, 1100);
    expect(invariants.problems()).toEqual([]);
    invariants.answered(0, 1200, 1000);
    invariants.started(0, 2199);
    invariants.waited(1, 60_001);
    invariants.paid(1, 5, 3, 3);
    invariants.paid(1, 6, 3, 3);
    expect(invariants.problems().map(({ what }) => what)).toEqual(['politeness', 'starvation']);
    invariants.paid(1, 6, 1, 3);
    expect(invariants.problems().at(-1)).toMatchObject({ what: 'budget', count: 1 });
    expect(invariants.leastGapMs).toBe(999);
  });

  it('finds a URL that nobody would', () => {
    const settings = makeSettings([]);
    const simulation = new Simulation(drawPublishers(5, 5, settings.web), settings, {
      seed: 5,
      startMs,
      days: 0.2,
      warmDays: 0,
      starvationMinutes: 60,
    });
    // A channel that is parked, and whose entry is gone.
    simulation.tables.slots.parked.drop(2);
    simulation.run();
    expect(simulation.invariants.problems().map(({ what }) => what)).toEqual(['lost']);
  });
});

describe('the command', () => {
  it('answers one JSON object, and 1 when a due domain waits too long', async () => {
    const small = ['--domains', '40', '--days', '1', '--json'];
    const good = await command(...small);
    expect(good.code).toBe(0);
    const answer = JSON.parse(good.out) as Record<string, unknown>;
    expect(answer).toMatchObject({ domains: 40, days: 1, seed: 5, holds: true });
    for (const part of ['discovery', 'freshness', 'requests', 'backlog', 'starvation', 'politeness', 'web'])
      expect(answer[part]).toBeTypeOf('object');
    const bad = await command(
      ...small,
      '--set',
      'fetchers=1',
      '--set',
      'fetch.domains_at_once=1',
      '--starvation-minutes',
      '0.01',
    );
    expect(bad.code).toBe(1);
    expect(JSON.parse(bad.out)).toMatchObject({ holds: false, problems: [{ what: 'starvation' }] });
  });

  it('compares policies on the same web', async () => {
    const { code, out } = await command(
      '--domains',
      '30',
      '--days',
      '1',
      '--compare',
      'product,fixed-60',
      '--json',
    );
    expect(code).toBe(0);
    const { runs } = JSON.parse(out) as { runs: Record<string, { requests: { total: number } }> };
    expect(Object.keys(runs)).toEqual(['product', 'fixed-60']);
    expect(runs['fixed-60']!.requests.total).toBeLessThan(runs.product!.requests.total);
  });

  it('comes to the same in parts, however many of them run at once', async () => {
    const [one, two] = await Promise.all(
      ['1', '2'].map(async (threads) => {
        const args = ['--domains', '30', '--days', '0.5', '--parts', '3', '--threads', threads, '--json'];
        const { code, out } = await command(...args);
        expect(code).toBe(0);
        const { requests, discovery, parts } = JSON.parse(out) as Record<string, unknown>;
        return { requests, discovery, parts };
      }),
    );
    expect(two).toEqual(one);
    expect(one).toMatchObject({ parts: 3 });
  });

  it.each([
    [['--set', 'fetch.default_delay=5'], 'did you mean fetch.default_delay_ms?'],
    [['--set', 'fetch.default_delay_ms=soon'], 'must be'],
    [['--set', 'polling.min_minutes=x'], 'must be a number'],
    [['--policy', 'best'], 'there is no policy "best"'],
    [['--days', 'many'], '--days must be from'],
    [['--wrong'], 'Unknown option'],
  ])('refuses %j in words', async (args, words) => {
    const { code, err } = await command(...args);
    expect(code).toBe(2);
    expect(err).toContain(words);
  });
});

it('parts of a run are put together', () => {
  const settings = makeSettings([]);
  const all = drawPublishers(20, 5, settings.web);
  const plan = { seed: 5, startMs, days: 1, warmDays: 0, starvationMinutes: 60, parts: 2 };
  const parts = [0, 1].map((part) => {
    const simulation = new Simulation(
      all.filter((_, domain) => domain % 2 === part),
      settings,
      plan,
    );
    simulation.run();
    return simulation.outcome();
  });
  // As after a way between threads.
  const merged = mergeOutcomes(structuredClone(parts));
  expect(merged).toMatchObject({ domains: 20, seats: 200, problems: [] });
  expect(merged.measures.discovered).toBe(parts[0]!.measures.discovered + parts[1]!.measures.discovered);
  expect(merged.measures.discovery.count).toBe(
    parts[0]!.measures.discovery.count + parts[1]!.measures.discovery.count,
  );
  expect(merged.measures.requests.channel.every((count) => count > 0)).toBe(true);
  expect(merged.measures.backlog).toHaveLength(24);
});

it('a distribution tells mean, quantiles and the worst within a fiftieth', () => {
  const distribution = new Distribution();
  for (let n = 1; n <= 1000; n += 1) distribution.add(n);
  expect(distribution.mean).toBeCloseTo(500.5, 6);
  expect(distribution.quantile(0.5) / 500).toBeCloseTo(1, 1);
  expect(distribution.quantile(0.95) / 950).toBeCloseTo(1, 1);
  expect(distribution.max).toBe(1000);
});
