import { checkDeliveries } from './deliveries.ts';
import { type Ground, someOf } from './ground.ts';
import {
  checkOneLease,
  checkPoliteness,
  checkRecovery,
  checkRobots,
  checkStaleSettles,
  checkTrespasses,
} from './leases.ts';
import { checkOwnEnds, checkResources } from './resources.ts';
import { checkCounters, checkNoneLost, checkNoRepeats } from './urls.ts';

export { type Ground, lifeOf } from './ground.ts';

/** What became of a promise. */
export type Verdict = { number: number; promise: string; problems: string[] };

const promises: readonly [number, string, (ground: Ground) => string[] | Promise<string[]>][] = [
  [1, 'no URL is lost', checkNoneLost],
  [2, 'one live lease per domain, epochs only grow', checkOneLease],
  [3, 'no request comes early', checkPoliteness],
  [4, 'a stale worker changes nothing', checkStaleSettles],
  [5, 'every document version is delivered, waits, or is a dead letter', checkDeliveries],
  [6, "nothing stays leased beyond lease + the domain's delay + 5 s", checkRecovery],
  [7, 'robots.txt is read first and kept to', checkRobots],
  [8, 'no connection to an address that is not public', checkTrespasses],
  [9, 'memory, sockets and files return to their baseline', checkResources],
  [10, 'counters equal ground truth', checkCounters],
  [11, 'no article is asked for twice', checkNoRepeats],
  [0, 'no process ended without a cause', checkOwnEnds],
];

/** Holds every promise against the ground truth. A check that throws has failed. */
export async function judge(ground: Ground): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const [number, promise, check] of promises) {
    let problems: string[];
    // A statement that fails would take the snapshot of those that follow with it.
    await ground.db.query('SAVEPOINT before_check');
    try {
      problems = await check(ground);
    } catch (error) {
      await ground.db.query('ROLLBACK TO before_check');
      problems = [`the check failed: ${error instanceof Error ? error.stack : String(error)}`];
    }
    verdicts.push({ number, promise, problems: someOf(problems) });
  }
  return verdicts;
}
