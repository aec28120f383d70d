import { EXIT } from '../errors/index.ts';

/** Why a role was replaced. */
export const restartReasons = ['stall', 'memory', 'database', 'crash', 'killed', 'failed'] as const;
export type RestartReason = (typeof restartReasons)[number];

/** A replacement of a role. */
export type Restart = { at: number; reason: RestartReason };

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
export function addRestart({ counts, last }: RestartHistory, restart: Restart): RestartHistory {
  return {
    counts: { ...counts, [restart.reason]: (counts[restart.reason] ?? 0) + 1 },
    last: [...last, restart].slice(-mostKept),
  };
}

/** How often it was replaced in the last hour, and why last; as many as are kept at most. */
export function restartsLately(
  { last }: RestartHistory,
  now: number,
): { count: number; reason: RestartReason | null } {
  const lately = last.filter(({ at }) => now - at < hourMs);
  return { count: lately.length, reason: lately.at(-1)?.reason ?? null };
}

const words: Record<RestartReason, string> = {
  stall: 'it stalled',
  memory: 'its memory ran short',
  database: 'the database was away',
  crash: 'it met an error that nobody foresaw',
  killed: 'it was killed',
  failed: 'it failed',
};

/** A reason in words; one of another version stays as it is. */
export const restartWords = (reason: string): string => words[reason as RestartReason] ?? reason.slice(0, 50);
