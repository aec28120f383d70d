import type { Queryable } from '../db/index.ts';

/** The group of slots that a group's rendering fetchers lease from; the functions of the frontier name it alike. */
export const renderPool = (pool: string): string => (pool === 'default' ? 'render' : `render:${pool}`);

/** Whether a name is one of those groups, which no fetcher or domain may be given. */
export const isRenderPool = (pool: string): boolean => /^render(:|$)/.test(pool);

const mostAtOnce = 500;

/**
 * Wakes the domains that wait for a browser which has come, and those whose turn was a browser's that is gone. Answers
 * how many. Indexes: domain_slots_rendering and domain_slots_unrendered, empty where there is nothing to do.
 */
export async function tendRendering(db: Queryable, skewMs = 0): Promise<number> {
  const result = await db.query<{ woken: number }>(
    `SELECT render_tend($1, $2 * interval '1 millisecond') AS woken`,
    [mostAtOnce, skewMs],
  );
  return result.rows[0]?.woken ?? 0;
}

/** The groups of fetchers that have a browser now. */
export async function loadRenderGroups(db: Queryable): Promise<string[]> {
  const result = await db.query<{ groups: string[] }>('SELECT render_groups() AS groups');
  return result.rows[0]!.groups;
}
