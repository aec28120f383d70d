import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createToken } from '../../src/auth/index.ts';
import { destroyServer } from '../../src/db/embedded/index.ts';
import { type Database, openDatabase } from '../../src/db/index.ts';
import { type FaultProxy, startFaultProxy } from '../process/fault-proxy.ts';
import { freePort } from '../process/free-port.ts';
import { type DnsAnswer, type DnsServer, startDnsServer } from '../web/dns-server.ts';
import { startWeb, type Web } from '../web/index.ts';
import { Member, type Role } from './crew.ts';
import { Ledger } from './ledger.ts';
import { tortured } from './publishers.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';

export const delayMs = 200;
export const leaseMs = 5000;
// A third of the requests is answered in this time even when the machine is busy; what takes longer is a fault.
const timeoutMs = 8000;
/** Two seconds may pass before a page is settled, and a worker holds on to its lease for as long as it lasts. */
const lossWindowMs = leaseMs + 5000;

export type StageOptions = { seed: number; publishers: number; fetchers: number };

/** Everything a run needs, from the database to the receiver of documents. */
export type Stage = {
  home: string;
  database: Database;
  web: Web;
  members: readonly Member[];
  ledger: Ledger;
  receiver: Receiver;
  /** The way to the receiver. */
  sinkProxy: FaultProxy;
  /** Name server of the fetchers; null where the web could not have port 80, and names come from a file. */
  names: { server: DnsServer; mood: 'well' | 'servfail' | 'nxdomain' | 'silent' } | null;
  /** Disks of the database and of the delivered files; null where nothing can be mounted. */
  disks: { database: SmallDisk; files: SmallDisk } | null;
  filesDir: string;
  api: { url: string; token: string };
  /** Connections to addresses nobody may connect to. */
  trespasses: () => number;
  serverPid: () => number;
  close(options: { keep: boolean }): Promise<void>;
};

const open = new Set<Stage>();

/** Takes down whatever stands, for a run that is interrupted: servers and disks must not stay. */
export async function strikeStages(): Promise<void> {
  for (const stage of open) await stage.close({ keep: false });
}

/** Sets the stage; nothing of the product runs yet but its database. */
export async function setStage(options: StageOptions): Promise<Stage> {
  const home = mkdtempSync(join(tmpdir(), 'outrider-torture-'));
  const undo: (() => unknown)[] = [() => undefined];
  try {
    const stage = await build(home, options, undo);
    open.add(stage);
    return stage;
  } catch (error) {
    for (const one of undo.reverse()) await one();
    rmSync(home, { recursive: true, force: true });
    throw error;
  }
}

async function build(home: string, options: StageOptions, undo: (() => unknown)[]): Promise<Stage> {
  const disks = mountDisks(home);
  if (disks !== null) undo.push(disks.database.unmount, disks.files.unmount);
  const trap = await startTrap();
  undo.push(() => trap.server.close());
  const publishers = tortured({ ...options, trapPort: trap.port });
  const startMs = Date.now() - 86_400_000;
  // Its clock stands unless the producer moves it: what appears by schedule after the last poll is nobody's loss.
  const clock = { startMs, speed: 0 };
  // Names lead to addresses and not to ports: only on port 80 can the way go by a name server.
  const web = await startWeb({ ...publishers, ...clock, port: 80 }).catch(() =>
    startWeb({ ...publishers, ...clock }),
  );
  undo.push(() => web.close());
  await web.writeHostsFile(join(home, 'hosts'));
  const names = web.port === 80 ? await startNames(web) : null;
  if (names !== null) undo.push(() => names.server.close());

  const dataDir = join(disks?.database.dir ?? home, 'data');
  const database = await openDatabase({ dataDir, maxConnections: 4, applicationName: 'torture' });
  undo.push(async () => {
    await database.close();
    await destroyServer(dataDir);
  });
  const receiver = await startReceiver();
  undo.push(() => receiver.close());
  const sinkProxy = await startFaultProxy(receiver.url);
  undo.push(() => sinkProxy.close());
  const ledger = new Ledger(lossWindowMs);
  const filesDir = join(disks?.files.dir ?? home, 'documents');
  mkdirSync(filesDir, { recursive: true });
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    LOG_LEVEL: 'info',
    LOG_FORMAT: 'json',
    OUTRIDER_RENDER_ENABLED: 'off',
    OUTRIDER_DATABASE_CONNECTIONS: '5',
    OUTRIDER_UP_GRACE_SECONDS: '10',
    OUTRIDER_FETCH_ALLOW_NETWORKS: `127.0.0.0/8:${web.port}`,
    OUTRIDER_FETCH_DEFAULT_DELAY_MS: String(delayMs),
    OUTRIDER_FETCH_LEASE_SECONDS: String(leaseMs / 1000),
    OUTRIDER_FETCH_NETWORK_GAP_MS: '0',
    OUTRIDER_FETCH_TIMEOUT_MS: String(timeoutMs),
    OUTRIDER_FETCH_HEADERS_TIMEOUT_MS: String(timeoutMs / 2),
    OUTRIDER_POLLING_SITEMAP_MAX_AGE_HOURS: '87600',
    OUTRIDER_WEBHOOK_URL: sinkProxy.url,
    OUTRIDER_WEBHOOK_SECRET: receiver.secret,
    OUTRIDER_FILES_DIR: filesDir,
    ...(names === null
      ? { OUTRIDER_FETCH_HOSTS_FILE: join(home, 'hosts') }
      : { TORTURE_DNS: names.server.address }),
  };
  const apiPort = await freePort();
  const made = await createToken(database.pool, { name: 'torture', role: 'admin', actor: 'torture' });
  if (made.outcome !== 'created') throw new Error('there is a token already');
  const members: Member[] = [];
  const join_ = async (name: string, role: Role, args: readonly string[]): Promise<void> => {
    const proxy = await startFaultProxy(database.connectionString);
    undo.push(() => proxy.close());
    members.push(new Member({ name, role, args, env, dir: home, proxy, ledger }));
  };
  await join_('serve', 'serve', ['serve', '--port', String(apiPort)]);
  for (const nth of [1, 2]) await join_(`schedule-${nth}`, 'schedule', ['schedule']);
  for (let nth = 1; nth <= options.fetchers; nth += 1) await join_(`fetch-${nth}`, 'fetch', ['fetch']);
  undo.push(() => Promise.all(members.map((one) => one.end('SIGKILL'))));

  const stage: Stage = {
    home,
    database,
    web,
    members,
    ledger,
    receiver,
    sinkProxy,
    names,
    disks,
    filesDir,
    api: { url: `http://127.0.0.1:${apiPort}`, token: made.token },
    trespasses: trap.count,
    serverPid: () => Number(readFileSync(join(dataDir, 'pg', 'postmaster.pid'), 'utf8').split('\n')[0]),
    close: async ({ keep }) => {
      open.delete(stage);
      for (const one of undo.splice(0).reverse()) await one();
      if (!keep) rmSync(home, { recursive: true, force: true });
    },
  };
  return stage;
}

function mountDisks(home: string): Stage['disks'] {
  const database = mountSmallDisk(join(home, 'disk-database'), 2048);
  if (database === null) return null;
  const files = mountSmallDisk(join(home, 'disk-files'), 512);
  if (files !== null) return { database, files };
  database.unmount();
  return null;
}

async function startNames(web: Web): Promise<NonNullable<Stage['names']>> {
  const addresses = new Map(web.hosts.flatMap(({ address, names }) => names.map((name) => [name, address])));
  const names: NonNullable<Stage['names']> = { server: undefined as unknown as DnsServer, mood: 'well' };
  names.server = await startDnsServer((name): DnsAnswer => {
    if (names.mood === 'servfail') return { code: 'SERVFAIL' };
    if (names.mood === 'silent') return undefined;
    const address = addresses.get(name);
    if (address === undefined || names.mood === 'nxdomain') return { code: 'NXDOMAIN' };
    return { addresses: [address] };
  });
  return names;
}

/** Listens where nobody may go: links and redirects of hostile publishers lead there. */
async function startTrap(): Promise<{ port: number; count: () => number; server: Server }> {
  let count = 0;
  const server = createHttpServer((_request, response) => response.end('you should not be here'));
  server.on('connection', () => {
    count += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  return { port: (server.address() as AddressInfo).port, count: () => count, server };
}
