import type { Queryable } from '../db/index.ts';

/** The group of slots that a group's rendering fetchers lease from; the functions of the frontier name it alike. */
export const renderPool = (pool: string): string => (pool === 'default' ? 'render' : `render:${pool}`);

/** Whether a name is one of those groups, which no fetcher or domain may be given. */
export const isRenderPool = (pool: string): boolean => /^render(:|$)/.test(pool);

/** How people give a browser, in one sentence. */
export const howToGiveBrowser =
  'Set render.browser_path to a Chromium or Chrome, or install the package @sparticuz/chromium beside Outrider.';

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

/** How many pages wait for a browser, and who has one. */
export type RenderingState = {
  waiting: number;
  /** Groups of fetchers that have a browser; empty while rendering is switched off. */
  groups: string[];
};

/** From the kept counts of sources, never from the rows. */
export async function loadRenderingState(db: Queryable): Promise<RenderingState> {
  const result = await db.query<RenderingState>(
    `SELECT (SELECT greatest(sum(x.rows), 0)::integer
               FROM (SELECT sum(rows_needs_render) AS rows FROM source_totals
                     UNION ALL SELECT sum(rows_needs_render) FROM counter_deltas) x) AS waiting,
            render_groups() AS groups`,
  );
  const { waiting, groups } = result.rows[0]!;
  return { waiting: waiting ?? 0, groups };
}
