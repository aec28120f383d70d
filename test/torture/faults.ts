import type { Member, Role } from './crew.ts';
import { frozen } from './ledger.ts';
import type { Strikable } from './plan.ts';
import { leaseMs, type Stage } from './stage.ts';
import type { Watcher } from './watcher.ts';

/** What a fault strikes with. */
export type Blow = {
  stage: Stage;
  watcher: Watcher;
  forMs: number;
  pick: number;
  wait(ms: number): Promise<void>;
};

/** A kind of fault: strikes, lasts, and is mended by itself. */
export type Fault = Strikable & {
  says: string;
  /** Why it cannot be done on this stage; null: it can. */
  missing?: (stage: Stage) => string | null;
  strike(blow: Blow): Promise<string>;
};

/** Somebody of a role that no other fault has; null when there is nobody left. */
function choose({ stage, pick }: Blow, ...roles: Role[]): Member | null {
  const free = stage.members.filter((one) => roles.includes(one.role) && !one.isTaken && one.pid !== null);
  return free[pick % free.length] ?? null;
}

/** Does something to one process, which no other fault meets meanwhile. */
async function onOne(
  blow: Blow,
  roles: readonly Role[],
  act: (member: Member) => Promise<void>,
): Promise<string> {
  const member = choose(blow, ...roles);
  if (member === null) return 'nobody is left';
  member.isTaken = true;
  try {
    const { life } = member;
    await act(member);
    return life;
  } finally {
    member.isTaken = false;
  }
}

async function kill({ watcher, wait, forMs }: Blow, member: Member): Promise<void> {
  if (member.role === 'fetch' && member.pid !== null) await watcher.noteDeath(member.pid, member.life);
  await member.end('SIGKILL');
  await wait(forMs);
  member.start();
}

/** Cuts somebody off from the database in a way that `cut` does and `heal` undoes. */
const cutOff =
  (cut: (member: Member) => void, heal: (member: Member) => void) =>
  (blow: Blow): Promise<string> =>
    onOne(blow, ['fetch', 'schedule', 'serve'], async (member) => {
      const loss = blow.stage.ledger.begin(member.life, 'cut off from the database');
      member.isCut = true;
      cut(member);
      await blow.wait(blow.forMs);
      heal(member);
      member.isCut = false;
      loss.end();
    });

/** A trouble of the database itself, which everybody feels. */
async function onDatabase({ stage, wait, forMs }: Blow, act: () => void, undo: () => void): Promise<string> {
  const loss = stage.ledger.begin(null, 'the database is in trouble');
  act();
  await wait(forMs);
  undo();
  // Whoever asks finds it gone and has it started again.
  for (let attempt = 0; attempt < 60; attempt += 1) {
    try {
      await stage.database.ensureRunning();
      await stage.database.pool.query('SELECT 1');
      break;
    } catch {
      await wait(250);
    }
  }
  loss.end();
  return 'the database';
}

const signalServer = ({ stage }: Blow, signal: NodeJS.Signals): void => {
  try {
    process.kill(stage.serverPid(), signal);
  } catch {
    // Between two lives there is nobody to signal, which is one of the moments to try.
  }
};

const twiceALease = { leastMs: leaseMs * 2, mostMs: leaseMs * 2 + 2000 };
const moment = { leastMs: 0, mostMs: 1500 };

const inMood = (mood: 'slow' | 'busy' | 'broken' | 'partly') => async (blow: Blow) => {
  blow.stage.receiver.mood = mood;
  await blow.wait(blow.forMs);
  blow.stage.receiver.mood = 'well';
  return 'the receiver';
};

const withNames = (mood: 'servfail' | 'nxdomain' | 'silent') => async (blow: Blow) => {
  const { names } = blow.stage;
  const silence = blow.stage.ledger.beginSilence();
  names!.mood = mood;
  await blow.wait(blow.forMs);
  names!.mood = 'well';
  silence.end();
  return 'the name server';
};

const needsNames = ({ names }: Stage): string | null =>
  names === null ? 'port 80, by which names lead to the web, could not be had' : null;
const needsDisks = ({ disks }: Stage): string | null =>
  disks === null ? 'no small disk could be mounted (it takes root)' : null;

/** Everything that is done to the system. */
export const faults: readonly Fault[] = [
  {
    name: 'kill-fetcher',
    says: 'kill -9 of a fetcher',
    ...moment,
    strike: (blow) => onOne(blow, ['fetch'], (member) => kill(blow, member)),
  },
  {
    name: 'kill-scheduler',
    says: 'kill -9 of a scheduler',
    ...moment,
    strike: (blow) => onOne(blow, ['schedule'], (member) => kill(blow, member)),
  },
  {
    name: 'kill-api',
    says: 'kill -9 of the API while addresses are submitted',
    ...moment,
    strike: (blow) => onOne(blow, ['serve'], (member) => kill(blow, member)),
  },
  {
    name: 'kill-all',
    says: 'kill -9 of everybody at once',
    ...moment,
    strike: async (blow) => {
      const free = blow.stage.members.filter((one) => !one.isTaken);
      for (const one of free) one.isTaken = true;
      await Promise.all(free.map((member) => kill(blow, member)));
      for (const one of free) one.isTaken = false;
      return `${free.length} processes`;
    },
  },
  {
    name: 'stop-fetcher',
    says: 'SIGTERM of a fetcher under load',
    ...moment,
    strike: (blow) =>
      onOne(blow, ['fetch'], async (member) => {
        const end = await member.end('SIGTERM');
        // Before its first line no program hears a signal, and the kernel ends it.
        const isUnborn = end?.signal === 'SIGTERM' && !end.hasSpoken;
        if (end !== null && !isUnborn && end.code !== 0 && end.code !== 3) {
          const { code, signal } = end;
          member.ownEnds.push({ life: member.life, code, signal, last: 'it was asked to stop' });
        }
        await blow.wait(blow.forMs);
        member.start();
      }),
  },
  {
    name: 'freeze-fetcher',
    says: 'a fetcher is frozen for twice its lease and comes back',
    ...twiceALease,
    strike: (blow) =>
      onOne(blow, ['fetch'], async (member) => {
        blow.stage.ledger.freezes += 1;
        const loss = blow.stage.ledger.begin(member.life, frozen);
        member.freeze();
        await blow.wait(blow.forMs);
        member.thaw();
        loss.end();
      }),
  },
  {
    name: 'freeze-scheduler',
    says: 'a scheduler is frozen and comes back',
    leastMs: 2000,
    mostMs: 12_000,
    strike: (blow) =>
      onOne(blow, ['schedule'], async (member) => {
        member.freeze();
        await blow.wait(blow.forMs);
        member.thaw();
      }),
  },
  {
    name: 'reset-connections',
    says: "a process's connections to the database are reset",
    ...moment,
    strike: cutOff(
      (member) => member.proxy.resetAll(),
      () => undefined,
    ),
  },
  {
    name: 'reset-after-commit',
    says: 'a connection is reset after the server did what was sent, before the answer came',
    leastMs: 500,
    mostMs: 4000,
    strike: cutOff(
      (member) =>
        void member.proxy.cutAfter((sent) =>
          /COMMIT|frontier_settle|frontier_submit/.test(sent.toString('latin1')),
        ),
      () => undefined,
    ),
  },
  {
    name: 'partition',
    says: 'a process is cut off from the database for twice its lease; its connections stay open',
    ...twiceALease,
    strike: cutOff(
      (member) => member.proxy.freeze(),
      (member) => member.proxy.thaw(),
    ),
  },
  {
    name: 'half-open',
    says: "a process's connections are dead and nobody told it; new ones work",
    leastMs: 4000,
    mostMs: 8000,
    strike: cutOff(
      (member) => member.proxy.freezeOpen(),
      () => undefined,
    ),
  },
  {
    name: 'refuse-connections',
    says: 'the database takes no connections of a process',
    leastMs: 1000,
    mostMs: 8000,
    strike: cutOff(
      (member) => {
        member.proxy.refuse();
        member.proxy.resetAll();
      },
      (member) => member.proxy.accept(),
    ),
  },
  {
    name: 'database-restart',
    says: 'PostgreSQL is restarted fast',
    ...moment,
    strike: (blow) =>
      onDatabase(
        blow,
        () => signalServer(blow, 'SIGINT'),
        () => undefined,
      ),
  },
  {
    name: 'database-kill',
    says: 'kill -9 of PostgreSQL',
    ...moment,
    strike: (blow) =>
      onDatabase(
        blow,
        () => signalServer(blow, 'SIGKILL'),
        () => undefined,
      ),
  },
  {
    name: 'database-disk-full',
    says: 'the disk of the database is full',
    leastMs: 2000,
    mostMs: 6000,
    missing: needsDisks,
    strike: (blow) => {
      const { database } = blow.stage.disks!;
      return onDatabase(blow, database.fill, database.free);
    },
  },
  {
    name: 'files-disk-full',
    says: 'the disk that documents are written to is full',
    leastMs: 2000,
    mostMs: 8000,
    missing: needsDisks,
    strike: async (blow) => {
      const { files } = blow.stage.disks!;
      files.fill();
      await blow.wait(blow.forMs);
      files.free();
      return 'the files';
    },
  },
  {
    name: 'clock-jump',
    says: 'the wall clock of a process jumps by an hour and back',
    leastMs: 3000,
    mostMs: 10_000,
    strike: (blow) =>
      onOne(blow, ['fetch', 'schedule', 'serve'], async (member) => {
        member.skewClock(blow.pick % 2 === 0 ? 3_600_000 : -3_600_000);
        await blow.wait(blow.forMs);
        member.skewClock(0);
      }),
  },
  {
    name: 'dns-servfail',
    says: 'the name server fails',
    isRare: true,
    leastMs: 3000,
    mostMs: 10_000,
    missing: needsNames,
    strike: withNames('servfail'),
  },
  {
    name: 'dns-nxdomain',
    says: 'no name exists',
    leastMs: 1000,
    mostMs: 4000,
    missing: needsNames,
    strike: withNames('nxdomain'),
  },
  {
    name: 'dns-silent',
    says: 'the name server says nothing',
    isRare: true,
    leastMs: 3000,
    mostMs: 12_000,
    missing: needsNames,
    strike: withNames('silent'),
  },
  {
    name: 'web-silent',
    says: 'no publisher answers',
    isRare: true,
    leastMs: 3000,
    mostMs: 10_000,
    strike: async (blow) => {
      const { web, ledger } = blow.stage;
      const silence = ledger.beginSilence();
      const set = web.publishers.map(({ domain }) => ({
        domain,
        id: web.setFault(domain, {
          name: 'stall',
          on: ['article', 'feed', 'sitemap', 'listing', 'robots', 'other'],
        }),
      }));
      await blow.wait(blow.forMs);
      for (const one of set) web.clearFault(one);
      silence.end();
      return 'the web';
    },
  },
  {
    name: 'sink-down',
    says: 'whoever takes the documents is away',
    leastMs: 3000,
    mostMs: 12_000,
    strike: async (blow) => {
      const { sinkProxy } = blow.stage;
      sinkProxy.refuse();
      sinkProxy.resetAll();
      await blow.wait(blow.forMs);
      sinkProxy.accept();
      return 'the receiver';
    },
  },
  { name: 'sink-slow', says: 'it is slow', leastMs: 3000, mostMs: 8000, strike: inMood('slow') },
  { name: 'sink-busy', says: 'it answers 429', leastMs: 2000, mostMs: 8000, strike: inMood('busy') },
  {
    name: 'sink-partly',
    says: 'it fails on every third',
    leastMs: 2000,
    mostMs: 8000,
    strike: inMood('partly'),
  },
  { name: 'sink-broken', says: 'it answers 503', leastMs: 2000, mostMs: 8000, strike: inMood('broken') },
  {
    name: 'sink-reset',
    says: 'deliveries are reset on the way',
    ...moment,
    strike: async (blow) => {
      blow.stage.sinkProxy.resetAll();
      return 'the receiver';
    },
  },
];
