import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { goodStanding } from '../../../src/domains/index.ts';
import { decidePriority, type Learnt, type UrlOrigin } from '../../../src/frontier/index.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/setup/database.ts';
import { hashOf, type Random, randomFrom } from '../../../test/web/random.ts';
import { rowState, width } from './index.ts';
import { type TwinEnding, type TwinItem, type TwinLease, TwoFrontiers } from './two-frontiers.ts';

// The simulation is worth what its model of the SQL is worth. The same random life is led by both, and after every step
// they must agree on every slot: level, times, budget, lease, status. SIMULATE_STEPS makes it longer.
const steps = Number(process.env.SIMULATE_STEPS ?? 250);
const domains = 9;
const origins: readonly UrlOrigin[] = ['feed', 'push', 'sitemap', 'spider', 'archive'];

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

/** What is seen of a life, so that the test can say that it was not a dull one. */
type Seen = Record<'leases' | 'urls' | 'trials' | 'refreshed' | 'used' | 'rests' | 'exhausted', number>;

class Life {
  readonly #twins: TwoFrontiers;
  readonly #random: Random;
  readonly #held: TwinLease[] = [];
  readonly #paths: TwinItem[] = [];
  readonly #dues = new Set<number>();
  readonly seen: Seen = { leases: 0, urls: 0, trials: 0, refreshed: 0, used: 0, rests: 0, exhausted: 0 };
  nowMs = 0;

  constructor(twins: TwoFrontiers, seed: number) {
    this.#twins = twins;
    this.#random = randomFrom(seed);
  }

  async begin(): Promise<void> {
    for (let domain = 0; domain < domains; domain += 1) {
      await this.#submit({ domain, path: `feed${domain}`, channel: true, origin: 'feed', priority: 5 });
      this.#twins.tables.slots.firstSeenAt[domain * width] = this.nowMs;
      for (let nth = 0; nth < 4 * domain; nth += 1) await this.#submitNew(domain);
    }
  }

  async step(): Promise<void> {
    const random = this.#random;
    const what = random.next();
    // Mostly seconds, now and then hours, so that budgets end, pages are due again and rests are over.
    const pace = random.next();
    this.nowMs += 1 + random.int(pace < 0.8 ? 3000 : pace < 0.97 ? 3_600_000 : 40 * 3_600_000);
    if (what < 0.18) await this.#submitNew(random.int(domains));
    else if (what < 0.3) await this.#submitKnown();
    else if (what < 0.45) await this.#promote();
    else if (what < 0.7) await this.#lease();
    else if (what < 0.97) await this.#settle();
    else await this.#twins.rescore(random.int(domains), this.nowMs);
    await this.#compare();
  }

  async #submit(item: Omit<TwinItem, 'dueMs' | 'modifiedMs'> & Partial<TwinItem>): Promise<void> {
    this.nowMs += 1;
    const whole = { dueMs: null, modifiedMs: null, ...item };
    const [real, model] = await this.#twins.submit(whole, this.nowMs);
    expect(model).toBe(real);
    if (real === 'inserted') this.#paths.push(whole);
    if (real === 'refreshed') this.seen.refreshed += 1;
  }

  async #submitNew(domain: number): Promise<void> {
    const random = this.#random;
    const origin = random.pick(origins);
    await this.#submit({
      domain,
      path: `a${this.#paths.length}`,
      channel: false,
      origin,
      priority: decidePriority({
        base: 3 + random.int(6),
        origin,
        kind: 'article',
        depth: random.int(3),
        external: false,
      }),
      dueMs: random.next() < 0.2 ? this.nowMs + this.#dueIn(600_000) : null,
    });
  }

  async #submitKnown(): Promise<void> {
    const random = this.#random;
    const known = random.pick(this.#paths);
    if (known.channel) return;
    await this.#submit({
      ...known,
      origin: random.pick(origins),
      priority: 1 + random.int(10),
      dueMs: null,
      modifiedMs: random.next() < 0.6 ? this.nowMs - random.int(10_000) : null,
    });
  }

  async #promote(): Promise<void> {
    const { nowMs, woken } = await this.#twins.promote(this.nowMs);
    expect(woken[1]).toBe(woken[0]);
    this.nowMs = nowMs;
  }

  async #lease(): Promise<void> {
    const { real, model, leases } = await this.#twins.lease(1 + this.#random.int(3), this.nowMs);
    expect(model).toEqual(real);
    this.#held.push(...leases);
    this.seen.leases += leases.length;
    for (const one of leases) {
      this.seen.urls += one.paths.length;
      if (one.model.trial !== null) this.seen.trials += 1;
    }
  }

  async #settle(): Promise<void> {
    const at = this.#random.int(this.#held.length || 1);
    const [held] = this.#held.splice(at, 1);
    if (held === undefined) return;
    // A trial that fails leaves everything as it was; so does a lease that was handed back in part.
    const most =
      held.model.trial === null && this.#random.next() < 0.7 ? held.paths.length : this.#random.int(2);
    const endings = held.paths
      .slice(0, most)
      .map((path, nth) => this.#ending(path, held.channels[nth] === true));
    const isGood = endings.some(({ request }) => request === 'good');
    const learnt = this.#learn(isGood);
    await this.#twins.settle(held, { endings, learnt, idleMs: this.#random.int(3000) }, this.nowMs);
    const { slots } = this.#twins.tables;
    if (slots.budgetLeft[held.model.domain] === 0) this.seen.used += 1;
    if (learnt.move !== undefined) this.seen.rests += 1;
    if (slots.status[held.model.domain] === 2) this.seen.exhausted += 1;
  }

  #ending(path: string, isChannel: boolean): TwinEnding {
    const random = this.#random;
    const way = random.next();
    const base = { path, tries: random.int(4), refreshSeconds: null, document: false, errorCode: null };
    if (isChannel || way < 0.12)
      return {
        ...base,
        state: rowState.pending,
        dueInMs: this.#dueIn(900_000),
        fetched: isChannel,
        request: isChannel && way < 0.8 ? 'good' : null,
      };
    if (way < 0.25)
      return {
        ...base,
        state: rowState.failed,
        dueInMs: this.#dueIn(300_000),
        fetched: false,
        request: 'error',
        errorCode: 'http_500',
      };
    if (way < 0.35) {
      const errorCode = random.pick(['not_found', 'gone', 'max_retries']);
      return {
        ...base,
        state: rowState.dead,
        dueInMs: null,
        fetched: random.next() < 0.5,
        request: 'error',
        errorCode,
      };
    }
    const isNew = !this.#stored.has(path);
    this.#stored.add(path);
    return {
      ...base,
      tries: 0,
      state: rowState.fetched,
      dueInMs: random.next() < 0.1 ? null : this.#dueIn(30 * 3_600_000),
      fetched: true,
      refreshSeconds: 3600 + random.int(100_000),
      request: 'good',
      document: isNew,
    };
  }

  readonly #stored = new Set<string>();

  #learn(isGood: boolean): Learnt {
    const random = this.#random;
    const way = random.next();
    const learnt: Learnt = { robotsDelayMs: random.int(3) * 1500, sourceDelayMs: 0 };
    if (way < 0.55) return isGood && way < 0.3 ? { ...learnt, trialPassed: true } : learnt;
    if (way < 0.65) return { ...learnt, penaltyMs: random.int(5) * 700, goodRun: random.int(9) };
    if (way < 0.75)
      return {
        ...learnt,
        hold: { ms: random.int(60_000), reason: random.next() < 0.5 ? 'retry_after' : 'robots' },
      };
    if (way < 0.9)
      return {
        ...learnt,
        ladder: {
          ...goodStanding,
          refusals: random.next() < 0.5 ? ['forbidden', 'challenge'] : [],
          circuitGood: random.next() < 0.3 ? random.int(2) : null,
          opens: random.next() < 0.4 ? [{ ageMs: random.int(100_000), reason: 'forbidden' }] : [],
          networkFailures: random.int(2),
          networkForMs: random.int(2000),
        },
      };
    const days = (n: number): number => n * 86_400_000 + 7;
    return random.next() < 0.6
      ? { ...learnt, move: { to: 'unreachable', reason: 'dns', restMs: [3_600_001, days(1), days(4)] } }
      : {
          ...learnt,
          move: { to: 'blocked', reason: random.pick(['forbidden', 'robots_denied']), restMs: [days(2)] },
        };
  }

  /** A time of its own: with two rows due at once either order is right. */
  #dueIn(mostMs: number): number {
    for (;;) {
      const ms = 1 + this.#random.int(mostMs);
      if (this.#dues.has(this.nowMs + ms)) continue;
      this.#dues.add(this.nowMs + ms);
      return ms;
    }
  }

  async #compare(): Promise<void> {
    const { real, model } = await this.#twins.states();
    expect(model).toEqual(real);
  }
}

describe('the model of the frontier', () => {
  it.each([
    ['budgets of four pages', { budget: 4, refresh: true, batch: 5 }],
    ['without budgets', { budget: null, refresh: true, batch: 50 }],
    ['without refreshes', { budget: 3, refresh: false, batch: 2 }],
  ])('does what the functions do: %s', async (name, change) => {
    const client = await test.pool.connect();
    try {
      await client.query('BEGIN');
      const { rows } = await client.query<{ now: number }>(
        'SELECT extract(epoch FROM now())::float8 * 1000 AS now',
      );
      const settings = {
        defaultDelayMs: 1000,
        // Longer than the life: leases that expire are not in the model.
        leaseMs: 2_000_000_000,
        refetchAgeMs: 6 * 3_600_000,
        ...change,
      };
      const life = new Life(new TwoFrontiers(client, rows[0]!.now, domains, settings), hashOf(11, name));
      await life.begin();
      for (let step = 0; step < steps; step += 1) await life.step();
      expect(life.seen.leases).toBeGreaterThan(steps / 12);
      expect(life.seen.urls).toBeGreaterThan(life.seen.leases);
      expect(life.seen.rests).toBeGreaterThan(0);
      expect(life.seen.refreshed + life.seen.trials).toBeGreaterThan(0);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });
});
