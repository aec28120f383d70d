import { createHash } from 'node:crypto';
import type { Queryable } from '../../../src/db/index.ts';
import {
  type Learnt,
  type Lease,
  type LoggedRequest,
  lease,
  levelOf,
  promote,
  type SettleDocument,
  settle,
  submit,
  type UrlOrigin,
  type UrlStatus,
} from '../../../src/frontier/index.ts';
import { identifyUrl } from '../../../src/url/index.ts';
import {
  type FrontierSettings,
  ladderOf,
  leaseSlot,
  none,
  promoteSlot,
  ReadyIndex,
  type RowEnding,
  Rows,
  rescoreSlot,
  rowState,
  type SlotLease,
  Slots,
  settleSlot,
  statuses,
  submitRow,
  type Tables,
  width,
} from './index.ts';

/** A URL for both frontiers. */
export type TwinItem = {
  domain: number;
  path: string;
  channel: boolean;
  origin: UrlOrigin;
  priority: number;
  dueMs: number | null;
  modifiedMs: number | null;
};

/** How a row ends in both. */
export type TwinEnding = Omit<RowEnding, 'row' | 'revivable'> & {
  path: string;
  errorCode: string | null;
  /** What the log says: none, a good answer, an error; and whether a document is stored. */
  request: 'good' | 'error' | null;
  document: boolean;
};

/** A lease that both gave. */
export type TwinLease = { real: Lease; model: SlotLease; paths: string[]; channels: boolean[] };

/** What a slot says, in words that both have; times in milliseconds since the beginning. */
export type SlotState = Record<string, number | string | boolean | null>;

const owner = 'w1';
const stateNames: UrlStatus[] = ['pending', 'failed', 'fetched', 'dead'];
const monotonicMs = 1e9;

/**
 * The frontier of the database and its model, driven alike. Everything runs in one transaction, so that `now()` stands
 * still and only the skew moves time: the two clocks are the same to the millisecond.
 */
export class TwoFrontiers {
  readonly #db: Queryable;
  readonly #tables: Tables;
  readonly #index: ReadyIndex;
  readonly #rowOf = new Map<string, number>();
  readonly #pathOf: string[] = [];
  readonly #keys: { bucket: number; domainKey: bigint }[];
  // Dates travel in whole milliseconds, the database has three digits more: the beginning is the next whole one.
  readonly #startMs: number;
  readonly #offsetMs: number;

  constructor(db: Queryable, databaseMs: number, domains: number, settings: FrontierSettings) {
    this.#db = db;
    this.#startMs = Math.ceil(databaseMs);
    this.#offsetMs = this.#startMs - databaseMs;
    this.#tables = { rows: new Rows(64), slots: new Slots(domains, 0), settings };
    this.#index = new ReadyIndex(this.#tables.slots, 'level', () => 0);
    this.#keys = Array.from({ length: domains }, (_, domain) => {
      const identified = identifyUrl(`https://d${domain}.test/`);
      if (identified.outcome === 'rejected') throw new Error('a domain of the test is none');
      return identified.identity;
    });
  }

  get tables(): Tables {
    return this.#tables;
  }

  async submit(item: TwinItem, nowMs: number): Promise<[string, string]> {
    const { domain, channel, priority, origin } = item;
    const url = `https://d${domain}.test/${item.path}`;
    const at = (ms: number | null): Date | null => (ms === null ? null : new Date(this.#startMs + ms));
    const kind = channel ? 'channel' : 'article';
    const [real] = await submit(
      this.#db,
      [
        {
          url,
          kind,
          origin,
          sourceId: null,
          priority,
          own: true,
          dueAt: at(item.dueMs),
          modifiedAt: at(item.modifiedMs),
        },
      ],
      { skewMs: this.#offsetMs + nowMs },
    );
    const model = submitRow(
      this.#tables,
      {
        domain,
        row: this.#rowOf.get(item.path) ?? -1,
        level: levelOf(kind, priority),
        priority,
        channel,
        budgeted: !channel && (origin === 'spider' || origin === 'archive'),
        dueMs: item.dueMs ?? none,
        modifiedMs: item.modifiedMs ?? none,
        nth: 0,
      },
      nowMs,
    );
    this.#rowOf.set(item.path, model.row);
    this.#pathOf[model.row] = item.path;
    this.#index.offer(domain);
    return [real!.answer, model.answer];
  }

  /** Promotes one slot after the other, each a millisecond later; answers the time after the last. */
  async promote(nowMs: number): Promise<{ nowMs: number; woken: [number, number] }> {
    const { slots, settings } = this.#tables;
    const woken: [number, number] = [0, 0];
    for (let at = nowMs; ; at += 1) {
      const { budget, refresh } = settings;
      const real = await promote(this.#db, { slots: 1, budget, refresh, skewMs: this.#offsetMs + at });
      let domain = -1;
      for (let one = 0; one < slots.count; one += 1)
        if (
          slots.wakeAt[one * width]! <= at &&
          (domain < 0 || slots.wakeAt[one * width]! < slots.wakeAt[domain * width]!)
        )
          domain = one;
      if (domain >= 0) {
        promoteSlot(this.#tables, domain, at);
        this.#index.offer(domain);
      }
      woken[0] += real;
      woken[1] += Number(domain >= 0);
      if (real === 0 && domain < 0) return { nowMs: at, woken };
    }
  }

  /** Leases from both; the domains and paths in the order they were given. */
  async lease(
    count: number,
    nowMs: number,
  ): Promise<{ real: string[][]; model: string[][]; leases: TwinLease[] }> {
    const { settings, slots } = this.#tables;
    const given = await lease(this.#db, {
      owner,
      pool: 'default',
      slots: count,
      leaseMs: settings.leaseMs,
      defaultDelayMs: settings.defaultDelayMs,
      batch: settings.batch,
      budget: settings.budget,
      skewMs: this.#offsetMs + nowMs,
    });
    const mine: SlotLease[] = [];
    const empty: number[] = [];
    while (mine.length + empty.length < count) {
      const domain = this.#index.take(nowMs);
      if (domain < 0) break;
      const one = leaseSlot(this.#tables, domain, nowMs);
      if (one === null) empty.push(domain);
      else mine.push(one);
    }
    // Not before: the function chooses all of them before it looks at their rows.
    for (const domain of empty) this.#index.offer(domain);
    const real = given.map((one) => [
      `${one.trial} ${one.delayMs} ${one.penaltyMs} ${describeLadder(one.ladder)}`,
      ...one.urls.map(({ url, level }) => `${new URL(url).pathname.slice(1)} ${level}`),
    ]);
    const model = mine.map((one) => [
      `${one.trial} ${one.delayMs} ${slots.penaltyMs[one.domain * width]} ${describeLadder(ladderOf(this.#tables, one.domain, nowMs))}`,
      ...one.rows.map((row) => `${this.#pathOf[row]} ${this.#tables.rows.level[row]}`),
    ]);
    const leases = mine.flatMap((one, at) =>
      given[at] === undefined
        ? []
        : [
            {
              real: given[at],
              model: one,
              paths: one.rows.map((row) => this.#pathOf[row]!),
              channels: given[at].urls.map(({ kind }) => kind === 'channel'),
            },
          ],
    );
    return { real, model, leases };
  }

  /** Ends a lease in both. */
  async settle(
    held: TwinLease,
    given: { endings: readonly TwinEnding[]; learnt: Learnt; idleMs: number },
    nowMs: number,
  ): Promise<void> {
    const { endings, learnt, idleMs } = given;
    const { settings } = this.#tables;
    const hashes = new Map(held.real.urls.map(({ url, hash }) => [new URL(url).pathname.slice(1), hash]));
    const kindOf = (path: string) => (held.channels[held.paths.indexOf(path)] ? 'channel' : 'article');
    await settle(this.#db, held.real, {
      owner,
      final: true,
      items: endings.map((one) => ({
        hash: hashes.get(one.path)!,
        status: stateNames[one.state]!,
        kind: kindOf(one.path),
        dueInMs: one.dueInMs,
        tries: one.tries,
        fetched: one.fetched,
        errorCode: one.errorCode,
        ...(one.refreshSeconds === null ? {} : { refreshSeconds: one.refreshSeconds }),
      })),
      documents: endings
        .filter(({ document }) => document)
        .map(({ path }) => documentOf(path, hashes.get(path)!)),
      requests: endings.flatMap(({ path, request }) =>
        request === null
          ? []
          : [requestOf(path, { hash: hashes.get(path)!, kind: kindOf(path), isGood: request === 'good' })],
      ),
      monotonicMs,
      lastAnswerAt: monotonicMs - idleMs,
      defaultDelayMs: settings.defaultDelayMs,
      learnt,
      budget: settings.budget,
      skewMs: this.#offsetMs + nowMs,
    });
    const asked = endings.filter(({ request }) => request !== null);
    const isGood = asked.some(({ request }) => request === 'good');
    settleSlot(
      this.#tables,
      {
        domain: held.model.domain,
        rows: held.model.rows,
        endings: endings.map((one) => ({
          ...one,
          row: this.#rowOf.get(one.path)!,
          revivable: one.errorCode === 'not_found' || one.errorCode === 'max_retries',
        })),
        totals: {
          requests: asked.length,
          pages: asked.filter(({ path, request }) => request === 'good' && kindOf(path) === 'article').length,
          errors: asked.filter(({ request }) => request === 'error').length,
          documents: endings.filter(({ document }) => document).length,
          goodAtMs: isGood ? nowMs : none,
        },
        idleMs,
        learnt,
      },
      nowMs,
    );
    this.#index.offer(held.model.domain);
  }

  async rescore(domain: number, nowMs: number): Promise<void> {
    const { bucket } = this.#keys[domain]!;
    await this.#db.query(`SELECT domain_rescore($1::smallint, $2 * interval '1 millisecond')`, [
      bucket,
      this.#offsetMs + nowMs,
    ]);
    for (const [other, key] of this.#keys.entries()) {
      if (key.bucket !== bucket) continue;
      rescoreSlot(this.#tables, other, nowMs);
      this.#index.offer(other);
    }
  }

  /** Every slot as either tells it. */
  async states(): Promise<{ real: SlotState[]; model: SlotState[] }> {
    const since = (column: string): string =>
      `CASE WHEN s.${column} = 'infinity' THEN 'Infinity'::float8 ELSE extract(epoch FROM s.${column} - now())::float8 * 1000 - ${this.#offsetMs} END`;
    const result = await this.#db.query<SlotState & { key: bigint }>(
      `SELECT s.domain_key AS key, coalesce(s.top, 0) AS top, s.queued, s.budgeted, ${since('next_at')} AS "nextAt",
              ${since('wake_at')} AS "wakeAt", s.lease_owner IS NOT NULL AS leased, s.budget_left AS "budgetLeft",
              ${since('budget_until')} AS "budgetUntil", s.shift, s.penalty_ms AS "penaltyMs", s.good_run AS "goodRun",
              coalesce(s.robots_delay_ms, 0) AS "robotsDelayMs", s.asleep, ${since('rest_until')} AS "restUntil",
              ${since('last_good_at')} AS "lastGoodAt", d.status::text, d.block_count AS "blockCount",
              d.unreachable_count AS "unreachableCount", d.documents, d.pages_crawled AS pages, d.errors_total AS errors
         FROM domain_slots s JOIN domains d USING (bucket, domain_key)`,
    );
    const byKey = new Map(result.rows.map(({ key, ...state }) => [key, state]));
    const real = this.#keys.map(({ domainKey }) => rounded(byKey.get(domainKey) ?? {}));
    return { real, model: real.map((_, domain) => rounded(this.#stateOf(domain))) };
  }

  #stateOf(domain: number): SlotState {
    const { slots } = this.#tables;
    const time = (value: number): number | null => (Number.isNaN(value) ? null : value);
    return {
      top: slots.top[domain * width]!,
      queued: slots.queued[domain * width]!,
      budgeted: slots.budgeted[domain * width]!,
      nextAt: slots.nextAt[domain * width]!,
      wakeAt: time(slots.wakeAt[domain * width]!),
      leased: slots.leased[domain * width] === 1,
      budgetLeft: time(slots.budgetLeft[domain * width]!),
      budgetUntil: time(slots.budgetUntil[domain * width]!),
      shift: slots.shift[domain * width]!,
      penaltyMs: slots.penaltyMs[domain * width]!,
      goodRun: slots.goodRun[domain * width]!,
      robotsDelayMs: slots.robotsDelayMs[domain * width]!,
      asleep: slots.asleep[domain * width] === 1,
      restUntil: time(slots.restUntil[domain * width]!),
      lastGoodAt: time(slots.lastGoodAt[domain * width]!),
      status: statuses[slots.status[domain * width]!]!,
      blockCount: slots.blockCount[domain * width]!,
      unreachableCount: slots.unreachableCount[domain * width]!,
      documents: slots.documents[domain * width]!,
      pages: slots.pagesCrawled[domain * width]!,
      errors: slots.errors[domain * width]!,
    };
  }
}

/** States of a row that are not its end. */
export const waiting = new Set<number>([rowState.pending, rowState.failed]);

// Microseconds are where the database stops; it counts in whole ones.
function rounded(state: SlotState): SlotState {
  return Object.fromEntries(
    Object.entries(state).map(([name, value]) => [
      name,
      typeof value === 'bigint' || typeof value === 'number' ? Math.round(Number(value) * 100) / 100 : value,
    ]),
  );
}

function describeLadder(ladder: Lease['ladder']): string {
  if (ladder === null) return 'good standing';
  const { refusals, circuitGood, opens, networkFailures, networkForMs } = ladder;
  const ages = opens.map((one) => `${one.reason} ${Math.round(one.ageMs)}`);
  const since = networkForMs === null ? 'never' : Math.round(networkForMs);
  return `${refusals.join()} ${circuitGood} ${ages.join()} ${networkFailures} ${since}`;
}

function requestOf(path: string, of: { hash: Buffer; kind: string; isGood: boolean }): LoggedRequest {
  return {
    endedAt: monotonicMs,
    status: of.isGood ? 200 : 500,
    kind: of.kind,
    outcome: 'response',
    hash: of.hash,
    url: `https://test/${path}`,
    sourceId: null,
    executionId: null,
    waitMs: 0,
    headersMs: 10,
    totalMs: 20,
    bytes: 100,
  };
}

function documentOf(path: string, hash: Buffer): SettleDocument {
  return {
    hash,
    url: `https://test/${path}`,
    sourceId: null,
    wordCount: 1,
    confidence: 1,
    publishedAt: null,
    modifiedAt: null,
    contentHash: createHash('sha256').update(path).digest(),
    pageType: 'article',
    language: null,
    canonicalUrl: null,
    title: null,
    section: null,
    description: null,
    leadImage: null,
    authors: [],
    keywords: [],
    meta: {},
    text: path,
    raw: null,
  };
}
