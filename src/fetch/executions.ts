import type { Queryable } from '../db/index.ts';
import type { LeasedUrl } from '../frontier/index.ts';
import { type ExecutionState, loadExecutionStates, saveUsage } from '../jobs/index.ts';
import type { Source } from '../sources/index.ts';

// A cancelled run must have no request that starts a second later.
const lifeMs = 500;
const mostEntries = 1000;

type Entry = { state: ExecutionState | null; until: number };

/**
 * What this process knows of the executions whose rows it holds, read again twice a second, and what it spends on them.
 * Rows without an execution never come here.
 */
export class ExecutionWatch {
  readonly #db: Queryable;
  readonly #monotonic: () => number;
  readonly #entries = new Map<bigint, Entry>();
  /** Pages that were answered here, by execution. */
  readonly #answered = new Map<bigint, number>();
  // Since the last report of what was spent.
  readonly #spent = new Map<bigint, number>();
  #pages = 0;
  #peakBytes = 0;
  #cpu = process.cpuUsage();

  constructor(db: Queryable, monotonic: () => number) {
    this.#db = db;
    this.#monotonic = monotonic;
  }

  /** How the execution of a row stands; null: it has none, or one that is no job's. */
  async current(row: LeasedUrl): Promise<ExecutionState | null> {
    const { executionId } = row;
    if (executionId === null) return null;
    const now = this.#monotonic();
    const known = this.#entries.get(executionId);
    if (known !== undefined && known.until > now) return known.state;
    if (this.#entries.size >= mostEntries) {
      this.#entries.clear();
      this.#answered.clear();
    }
    const state = (await loadExecutionStates(this.#db, [executionId])).get(executionId) ?? null;
    this.#entries.set(executionId, { state, until: now + lifeMs });
    return state;
  }

  /** As it was when the row began; null as above. */
  known(row: Pick<LeasedUrl, 'executionId'>): ExecutionState | null {
    return row.executionId === null ? null : (this.#entries.get(row.executionId)?.state ?? null);
  }

  /**
   * Whether an execution wants its rows no more: it was stopped, or its pages are used as far as this process can know.
   * Of one that is over nothing is counted: what it had fetched comes again for others, a refresh or a retry.
   */
  refuses({ id, stands, maxPages, crawled }: ExecutionState): boolean {
    if (stands !== 'running') return stands === 'stopped';
    return maxPages !== null && Math.max(crawled, this.#answered.get(id) ?? 0) >= maxPages;
  }

  /** Counts a page that was answered, whoever wanted it; the shares of what is spent follow from it. */
  note({ executionId }: Pick<LeasedUrl, 'executionId'>, isAnswered: boolean): void {
    this.#pages += 1;
    if (executionId === null || this.known({ executionId }) === null) return;
    if (isAnswered) this.#answered.set(executionId, (this.#answered.get(executionId) ?? 0) + 1);
    this.#spent.set(executionId, (this.#spent.get(executionId) ?? 0) + 1);
    this.#peakBytes = Math.max(this.#peakBytes, process.memoryUsage.rss());
  }

  /**
   * Writes down what was spent on executions. Pages of many domains are read at once, so an execution's share of the
   * process's CPU time is its share of the pages; memory is that of the process while it read them.
   */
  async report(): Promise<void> {
    const cpu = process.cpuUsage(this.#cpu);
    const pages = Math.max(1, this.#pages);
    this.#cpu = process.cpuUsage();
    this.#pages = 0;
    if (this.#spent.size === 0) return;
    const cpuMs = (cpu.user + cpu.system) / 1000;
    const usages = [...this.#spent].map(([executionId, own]) => ({
      executionId,
      cpuMs: (cpuMs * own) / pages,
      peakMemoryBytes: this.#peakBytes,
    }));
    this.#spent.clear();
    this.#peakBytes = 0;
    await saveUsage(this.#db, usages);
  }
}

/** The crawl that a row belongs to and that is under way; null: there is none. */
export const crawlOf = (execution: ExecutionState | null): ExecutionState | null =>
  execution?.stands === 'running' && execution.kind === 'crawl' ? execution : null;

/** The source as a run wants it: a crawl follows links whatever the source's mode, as deep as its job says. */
export function sourceOfRun(source: Source | null, execution: ExecutionState | null): Source | null {
  const run = crawlOf(execution);
  if (source === null || run === null) return source;
  return {
    ...source,
    ingestionMode: source.ingestionMode === 'feed' ? 'both' : source.ingestionMode,
    settings: run.maxDepth === null ? source.settings : { ...source.settings, maxDepth: run.maxDepth },
  };
}
