import type { Database } from '../db/index.ts';
import { howToGiveBrowser, loadRenderingState } from '../frontier/index.ts';
import { type CheckResult, ok, warn } from './check.ts';

/** Who renders pages that need JavaScript, and how well its browser is kept apart from the machine. */
export async function checkBrowser({ pool }: Database): Promise<CheckResult[]> {
  const { waiting, groups } = await loadRenderingState(pool);
  const { rows } = await pool.query<{ host: string; pid: number; sandbox: boolean }>(
    `SELECT host, pid, coalesce(state -> 'browser' ->> 'sandbox' = 'true', false) AS sandbox FROM workers
      WHERE renders AND heartbeat_at > now() - interval '30 seconds' ORDER BY host, pid LIMIT 100`,
  );
  const wait = `${waiting} ${waiting === 1 ? 'page that needs JavaScript waits' : 'pages that need JavaScript wait'}`;
  if (rows.length === 0)
    return waiting === 0
      ? [ok('No fetcher has a browser; no page needs one.')]
      : [warn(`${wait}: no fetcher has a browser.`, howToGiveBrowser)];
  if (groups.length === 0)
    return [warn(`${wait}: rendering is switched off.`, 'Switch it on with: outrider switch rendering on')];
  const bare = rows.filter(({ sandbox }) => !sandbox);
  return [
    ok(
      `${rows.length} ${rows.length === 1 ? 'fetcher has' : 'fetchers have'} a browser; ${waiting} pages wait for one.`,
    ),
    ...bare.map(({ host, pid }) =>
      warn(
        `The browser of the fetcher ${pid} on ${host} runs without its own sandbox.`,
        'Allow unprivileged user namespaces there, or run that fetcher on a machine of its own.',
      ),
    ),
  ];
}
