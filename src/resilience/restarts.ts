import { EXIT } from '../errors/index.ts';

/** Why a role was replaced. */
export const restartReasons = ['stall', 'memory', 'database', 'crash', 'killed', 'failed'] as const;
export type RestartReason = (typeof restartReasons)[number];

/** A replacement of a role, and why in words: whoever shows it may know another version's reasons. */
export type Restart = { at: number; reason: RestartReason; why: string };

/** How often a role was replaced, as its supervisor tells the new one. */
export type RestartHistory = {
  /** Since the supervisor was started, by reason. */
  counts: Partial<Record<RestartReason, number>>;
  /** The last ones, oldest first. */
  last: Restart[];
};

const mostKept = 20;
const hourMs = 3_600_000;

/** Why a role that ended so did. */
export function reasonOf(code: number | null, signal: string | null): RestartReason {
  if (signal !== null) return 'killed';
  if (code === EXIT.stalled) return 'stall';
  if (code === EXIT.memory) return 'memory';
  if (code === EXIT.database) return 'database';
  return code === EXIT.crashed ? 'crash' : 'failed';
}

/** The history with one more replacement. */
export function addRestart(
  { counts, last }: RestartHistory,
  { at, reason }: Omit<Restart, 'why'>,
): RestartHistory {
  return {
    counts: { ...counts, [reason]: (counts[reason] ?? 0) + 1 },
    last: [...last, { at, reason, why: restartWords(reason) }].slice(-mostKept),
  };
}

/** How often a role was replaced in the last hour, in words; as often as is remembered at most. */
export type LateRestarts = { lastHour: number; text: string };

/** What a history says of the last hour. It may be another process's, of another version: nothing is taken for granted. */
export function restartsLately(history: unknown, now: number): LateRestarts {
  const { last } = (history ?? {}) as { last?: unknown };
  const lately = (Array.isArray(last) ? last.slice(-mostKept) : []).filter((one: unknown) => {
    const { at } = (one ?? {}) as { at?: unknown };
    return typeof at === 'number' && now - at < hourMs;
  }) as { why?: unknown }[];
  const why = lately.at(-1)?.why;
  const reason = typeof why === 'string' ? `, last because ${why.slice(0, 100)}` : '';
  const times = lately.length === 1 ? 'once' : `${lately.length} times`;
  return {
    lastHour: lately.length,
    text:
      lately.length === 0
        ? 'It was not restarted in the last hour.'
        : `It was restarted ${times} in the last hour${reason}.`,
  };
}

const words: Record<RestartReason, string> = {
  stall: 'it stalled',
  memory: 'its memory ran short',
  database: 'the database was away',
  crash: 'it met an error that nobody foresaw',
  killed: 'it was killed',
  failed: 'it failed',
};

/** A reason in words. */
export const restartWords = (reason: RestartReason): string => words[reason];
