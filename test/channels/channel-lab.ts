import { discoverChannels } from '../../src/discover/index.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { type Lab, plain } from '../fetch/lab.ts';
import type { FaultSpec, PublisherChange } from '../web/index.ts';

/** What is stored of a channel that a test follows. */
export type ChannelFacts = {
  id: number;
  url: string;
  polls: number;
  errors: number;
  kind: string | null;
  asleep: boolean;
  redirects: number;
  left: string[] | null;
};

/** The channels of a publisher's source, by age. */
export async function channelsOf(lab: Lab, name: string): Promise<ChannelFacts[]> {
  const result = await lab.database.pool.query<ChannelFacts>(
    `SELECT c.id, c.url, coalesce(s.polls, 0)::integer AS polls, coalesce(s.errors_in_row, 0) AS errors, s.error_kind AS kind,
            s.slept_at IS NOT NULL AS asleep, coalesce(s.redirects, 0) AS redirects,
            (SELECT array_agg(a.url ORDER BY a.left_at) FROM channel_addresses a WHERE a.channel_id = c.id) AS left
       FROM channels c JOIN sources o ON o.id = c.source_id
       LEFT JOIN channel_state s ON s.bucket = c.bucket AND s.channel_id = c.id
      WHERE o.url = $1 ORDER BY c.id`,
    [`http://${name}.test/`],
  );
  return result.rows;
}

/** A publisher whose feed alone has faults; further feeds are named by its pages. */
export function feedTrouble(
  name: string,
  faults: readonly FaultSpec[],
  more: readonly string[] = [],
): PublisherChange {
  const base = plain(name, faults);
  const [feed] = base.feeds!;
  return { ...base, feeds: [feed!, ...more.map((path) => ({ ...feed!, path }))] };
}

/** Makes what these publishers have due now, and waits until it is done; as often as said. */
export async function pollAgain(lab: Lab, names: readonly string[], times = 1): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await lab.hurry(names.map((one) => `${one}.test`));
    await lab.idle();
  }
}

/** Moves every open search on until all have ended, with the fetcher's help. */
export async function searchAll(lab: Lab): Promise<void> {
  const log = createLog({ level: 'silent', format: 'json' });
  for (let step = 0; step < 30; step += 1) {
    await discoverChannels({ database: lab.database.db, log, sitemapIntervalSeconds: 21_600 });
    const open = await lab.database.pool.query('SELECT FROM discoveries WHERE finished_at IS NULL');
    if (open.rowCount === 0) return;
    await lab.idle();
  }
  throw new Error('a search does not end');
}
