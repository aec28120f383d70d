import type { Database } from '../db/index.ts';
import { loadWorkers } from '../domains/index.ts';
import { listSinks, type SinkStatus } from '../outbox/index.ts';
import { describeLoop, describeLoops, presentOf, readLoops, restartsLately } from '../resilience/index.ts';
import { loadSwitchChanges, loadSwitches } from '../switches/index.ts';
import { type CheckResult, fail, ok, warn } from './check.ts';

const list = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

/** Whether somebody fetches and somebody keeps house, and who has fallen silent. */
export async function checkWorkers({ pool }: Database, version: string): Promise<CheckResult[]> {
  const workers = (await loadWorkers(pool)).filter((one) => one.isKnown);
  const alive = workers.filter((one) => one.isAlive);
  if (alive.length === 0 && workers.length === 0)
    return [warn('Nothing runs.', 'Start everything with: outrider up')];
  const results: CheckResult[] = [];
  const has = (role: string): boolean => alive.some((one) => one.role === role || one.role === 'run');
  if (alive.length === 0) results.push(warn('No process is alive.', 'Start everything with: outrider up'));
  else if (!has('fetch'))
    results.push(warn('No fetcher is alive: nothing is fetched.', 'Start one with: outrider fetch'));
  else if (!has('schedule'))
    results.push(
      warn(
        'No scheduler is alive: no feeds are found, and nothing is indexed or delivered.',
        'Start one with: outrider schedule',
      ),
    );
  for (const one of workers.filter((worker) => !worker.isAlive))
    results.push(
      warn(
        `The ${one.role} process ${one.pid} on ${one.host} has been silent since ${one.heartbeatAt?.toISOString()}; it holds ${one.leases} domains.`,
        'If it still runs there, look at its log and its load. Its leases end by themselves, and so does its entry.',
      ),
    );
  const others = [...new Set(alive.map((one) => one.version ?? '?').filter((one) => one !== version))];
  if (others.length > 0)
    results.push(
      warn(
        `Processes of version ${list(others)} run beside this ${version}.`,
        'Restart them soon: versions should differ for the time of an upgrade only.',
      ),
    );
  if (results.length > 0) return results;
  const roles = [...new Set(alive.map((one) => one.role ?? 'unknown'))].map(
    (role) => `${alive.filter((one) => one.role === role).length} ${role}`,
  );
  return [
    ok(`${alive.length} ${alive.length === 1 ? 'process is' : 'processes are'} alive: ${roles.join(', ')}.`),
  ];
}

type WorkerLoops = {
  role: string;
  host: string;
  pid: number;
  state: { loops?: unknown; outage?: unknown; restarts?: unknown };
};

async function loadStates({ pool }: Database): Promise<WorkerLoops[]> {
  const { rows } = await pool.query<WorkerLoops>(
    `SELECT role, host, pid, state FROM workers WHERE heartbeat_at > now() - interval '30 seconds' ORDER BY role, host, pid`,
  );
  return rows;
}

/** Loops that fail or have stopped turning. */
export async function checkLoops(database: Database): Promise<CheckResult[]> {
  const workers = await loadStates(database);
  const results = workers.flatMap((worker) => troubledLoops(worker));
  if (results.length > 0) return results;
  return [
    ok(
      describeLoops(
        workers.flatMap((one) => readLoops(one.state.loops).map((loop) => describeLoop(loop, null))),
      ).text,
    ),
  ];
}

function troubledLoops(worker: WorkerLoops): CheckResult[] {
  const loops = readLoops(worker.state.loops);
  const who = `of the ${worker.role} process ${worker.pid} on ${worker.host}`;
  const now = presentOf(loops);
  return loops.flatMap((loop): CheckResult[] => {
    const { state, text } = describeLoop(loop, now, ` ${who}`);
    switch (state) {
      case 'ok':
        return [];
      case 'still':
        return [fail(text, 'Restart that process: its leases expire and nothing is lost.')];
      default:
        return [(state === 'broken' ? fail : warn)(text, 'It tries again by itself; its log says more.')];
    }
  });
}

/** Processes that were replaced lately, and a database that was started again under them. */
export async function checkRestarts(database: Database): Promise<CheckResult[]> {
  const workers = await loadStates(database);
  const results = workers.flatMap(({ role, host, pid, state }): CheckResult[] => {
    const { lastHour, text } = restartsLately(state.restarts, Date.now());
    if (lastHour === 0) return [];
    return [
      warn(
        `The ${role} process ${pid} on ${host}: ${text}`,
        'Its log says more: look for "stall detected", "memory runs short" and "something unforeseen".',
      ),
    ];
  });
  const { rows } = await database.pool.query<{ at: Date }>(
    `SELECT pg_postmaster_start_time() AS at
      WHERE pg_postmaster_start_time() > now() - interval '1 hour'
        AND EXISTS (SELECT FROM workers WHERE heartbeat_at > now() - interval '30 seconds'
                                          AND started_at < pg_postmaster_start_time())`,
  );
  for (const { at } of rows)
    results.push(
      warn(
        `The database was started again at ${at.toISOString()}, while processes worked with it.`,
        "Look at the server's log, unless you did it. Work goes on, and nobody is blamed for what it cut off.",
      ),
    );
  return results.length > 0 ? results : [ok('Nothing had to be restarted in the last hour.')];
}

/** Whether fetchers believe that their own network is down. */
export async function checkOutage(database: Database): Promise<CheckResult[]> {
  const away = (await loadStates(database)).filter((one) => one.state.outage === true);
  if (away.length === 0) return [ok('No fetcher sees an outage.')];
  return away.map((one) =>
    warn(
      `The fetcher ${one.pid} on ${one.host} reaches nobody and waits: its network seems to be down.`,
      'Check the network of that machine. It looks again every 30 s, and nobody is blamed meanwhile.',
    ),
  );
}

/** Switches that are off. */
export async function checkSwitches({ pool }: Database): Promise<CheckResult[]> {
  const switches = await loadSwitches(pool);
  const off = Object.entries(switches).filter(([, isOn]) => !isOn);
  if (off.length === 0) return [ok('Every switch is on.')];
  const changes = await loadSwitchChanges(pool);
  return off.map(([name]) => {
    const change = changes.find((one) => one.name === name);
    const by = change === undefined ? '' : ` since ${change.changedAt.toISOString()}, by ${change.changedBy}`;
    return warn(`The switch ${name} is off${by}.`, `Switch it on again with: outrider switch ${name} on`);
  });
}

const lagMs = 15 * 60_000;

/** Sinks that are behind, fail, are paused or have refused something. */
export async function checkSinks({ pool }: Database): Promise<CheckResult[]> {
  const sinks = await listSinks(pool);
  const results = sinks.flatMap((sink) => troublesOf(sink));
  return results.length > 0
    ? results
    : [ok(sinks.length === 1 ? 'The one sink keeps up.' : `All ${sinks.length} sinks keep up.`)];
}

function troublesOf(sink: SinkStatus): CheckResult[] {
  const { name } = sink;
  const results: CheckResult[] = [];
  const waitedMs = sink.waitingSince === null ? 0 : Date.now() - sink.waitingSince.getTime();
  if (!sink.enabled)
    results.push(
      warn(`${name} is paused: nothing is kept for it.`, `Let it go on with: outrider sinks resume ${name}`),
    );
  else if (sink.failingSince !== null)
    results.push(
      warn(
        `${name} has failed since ${sink.failingSince.toISOString()}: ${(sink.error ?? 'unknown').slice(0, 300)}`,
        'Mend what it complains of; what waits is delivered then.',
      ),
    );
  else if (waitedMs > lagMs)
    results.push(
      warn(
        `${name} is behind: ${sink.waiting} wait, the eldest for ${Math.round(waitedMs / 60_000)} min.`,
        sink.deliverer === null
          ? 'Nobody delivers to it: is a schedule role running with its settings?'
          : 'It takes less than comes in; see "outrider sinks".',
      ),
    );
  if (sink.deadLetters > 0)
    results.push(
      warn(
        `${name} has refused ${sink.deadLetters} deliveries for good.`,
        `See why with "outrider sinks dead ${name}", then: outrider sinks retry ${name}`,
      ),
    );
  return results;
}
