/** The frontier beside the usual queues: what one URL costs the server, at any number of rows. */
import { loadavg } from 'node:os';
import {
  loadFrontier,
  loadHugeDomain,
  planDomains,
  releaseHugeDomain,
  throttleBest,
  unthrottle,
} from './frontier/load.ts';
import { combine, type Figures, type MeteredClient, measure } from './frontier/meter.ts';
import { claimOneByOne, loadClaimTables, throttleClaimHosts } from './frontier/one-row-claim.ts';
import { churn, leaseAndSettle, submitMany } from './frontier/ours.ts';
import { type Peer, startPeer } from './frontier/peers.ts';
import { type BenchServer, startBenchServer } from './frontier/server.ts';
import { readOptions, UsageError } from './options.ts';
import { preparePeers } from './peer-packages.ts';

const rounds = 3;
const [leastRows, mostRows] = [10_000, 10_000_000];
// A queue's cost does not fall with more jobs waiting, and loading ten million of them would take longer than all the rest.
const mostJobs = 600_000;

type Context = {
  server: BenchServer;
  ours: MeteredClient;
  claims: MeteredClient;
  rows: number;
  /** URLs per figure. */
  sample: number;
};

/** What leasing and settling URLs costs, ours and the alternatives'. */
export async function run(args: string[]): Promise<object> {
  const values = readOptions(args, {
    rows: ['URLs: 10k, 100k, 1m, 10m', '100k'],
    peers: ['install the alternatives first', false],
    'no-peers': ['leave the alternatives out', false],
  });
  const rows = parseRows(values.rows);
  const wanted = !values['no-peers'];
  const withPeers = wanted && (await preparePeers(['graphile-worker', 'pg-boss'], values.peers));
  if (wanted && !withPeers)
    console.error(
      'frontier: graphile-worker and pg-boss are left out: bench/peers is not installed (--peers does)',
    );
  const server = await startBenchServer();
  try {
    const context: Context = {
      server,
      ours: await server.connect(),
      claims: await server.connect(),
      rows,
      sample: Math.max(300, Math.min(12_000, Math.round(rows / 15))),
    };
    return await measureAll(context, withPeers);
  } finally {
    await server.close();
  }
}

function parseRows(text: string): number {
  const match = /^(\d+)([km]?)$/i.exec(text);
  if (match === null) throw new UsageError(`--rows takes a number such as 100k or 1m, not "${text}"`);
  const unit = { '': 1, k: 1000, m: 1_000_000 }[match[2]!.toLowerCase()] ?? 1;
  const rows = Number(match[1]) * unit;
  // Fewer than are leased for a figure, and it would wait for more for ever.
  if (rows < leastRows || rows > mostRows) throw new UsageError(`--rows takes 10k to 10m, not "${text}"`);
  return rows;
}

async function measureAll(context: Context, withPeers: boolean): Promise<object> {
  const { server, rows } = context;
  const domains = planDomains(rows);
  console.error(
    `frontier: loading ${rows} URLs of ${domains.length} domains, and the table of the one-row claim`,
  );
  await loadFrontier(server.admin, domains);
  await loadClaimTables(server.admin);
  const load = Math.round(loadavg()[0]! * 100) / 100;
  const open = await measureOpen(context, withPeers);
  const throttled = await measureThrottled(context);
  const submits = await measureSubmits(context, domains);
  const snapshotHeld = await measureSnapshotHeld(context);
  const hugeDomain = await measureHugeDomain(context);
  return { rows, load, open, throttled, ...submits, snapshotHeld, hugeDomain };
}

function report(name: string, figures: Figures): Figures {
  const { buffersPerUrl, cpuUsPerUrl, walBytesPerUrl, urlsPerS, batch } = figures;
  const batched = batch === undefined ? '' : `, ${batch} per call`;
  console.error(
    `frontier: ${name.padEnd(28)} ${buffersPerUrl} buffers, ${cpuUsPerUrl} µs CPU, ${walBytesPerUrl} bytes of WAL, ${urlsPerS}/s${batched}`,
  );
  return figures;
}

/** Everything is due. The alternatives take turns, so that a busy moment of the machine meets all of them. */
async function measureOpen(
  { server, ours, claims, rows, sample }: Context,
  withPeers: boolean,
): Promise<object> {
  const { admin } = server;
  const part = Math.ceil(sample / rounds);
  await leaseAndSettle(ours.client, { urls: part / 4 });
  await claimOneByOne(claims.client, 20);
  const peers: [name: string, peer: Peer][] = [];
  if (withPeers) {
    const options = { connectionString: server.connectionString, waiting: Math.min(mostJobs, rows * 0.6) };
    peers.push(['graphileWorker', await startPeer('graphile-worker', options)]);
    peers.push(['graphileWorkerBatched', await startPeer('graphile-worker-batched', options)]);
    peers.push(['pgBoss', await startPeer('pg-boss', options)]);
  }
  const parts: Record<string, Figures[]> = {};
  const add = (name: string, figures: Figures): void => {
    parts[name] = [...(parts[name] ?? []), figures];
  };
  try {
    for (let round = 0; round < rounds; round += 1) {
      await admin.query('CHECKPOINT');
      add('ours', await measure(admin, ours, () => leaseAndSettle(ours.client, { urls: part })));
      add(
        'oneRowClaim',
        await measure(admin, claims, () => claimOneByOne(claims.client, Math.min(part, 300, rows / 200))),
      );
      for (const [name, peer] of peers)
        add(name, await peer.measure(admin, name === 'graphileWorker' ? Math.min(part, 500) : part));
      add(
        'oursWithLog',
        await measure(admin, ours, () => leaseAndSettle(ours.client, { urls: part / 2, log: true })),
      );
      add(
        'oursSettledInTwos',
        await measure(admin, ours, () => leaseAndSettle(ours.client, { urls: part / 4, settleEvery: 2 })),
      );
    }
  } finally {
    for (const [, peer] of peers) await peer.stop();
  }
  return Object.fromEntries(
    Object.entries(parts).map(([name, each]) => [name, report(`open, ${name}`, combine(each))]),
  );
}

/** The best hosts all wait: what is due stands behind tens of thousands that are not. */
async function measureThrottled({ server, ours, claims, rows, sample }: Context): Promise<object> {
  const { admin } = server;
  const throttledSlots = await throttleBest(admin);
  await throttleClaimHosts(admin);
  await admin.query('CHECKPOINT');
  await leaseAndSettle(ours.client, { urls: 100 });
  const figures = await measure(admin, ours, () => leaseAndSettle(ours.client, { urls: sample / 6 }));
  const claimed = await measure(admin, claims, () => claimOneByOne(claims.client, rows > 200_000 ? 3 : 20));
  await unthrottle(admin);
  return {
    throttledSlots,
    ours: report('throttled, ours', figures),
    oneRowClaim: report('throttled, oneRowClaim', claimed),
  };
}

async function measureSubmits(
  { server, ours, sample }: Context,
  domains: ReturnType<typeof planDomains>,
): Promise<Record<string, Figures>> {
  const shares = { submitNew: 0, submitMostlyKnown: 0.9, submitAllKnown: 1 };
  const results: Record<string, Figures> = {};
  let serial = 1;
  for (const [name, knownShare] of Object.entries(shares)) {
    await submitMany(ours.client, domains, { urls: 500, knownShare, serial });
    // Sets the hint bits of what the load and earlier figures wrote; a reader would, and would seem to write.
    await server.admin.query('VACUUM url_frontier');
    await server.admin.query('CHECKPOINT');
    const submitted = { urls: sample, knownShare, serial: serial + 1 };
    results[name] = report(
      name,
      await measure(server.admin, ours, () => submitMany(ours.client, domains, submitted)),
    );
    serial += 2;
  }
  return results;
}

/** A snapshot is held while domains are leased and settled for a minute: nothing dead can be removed. */
async function measureSnapshotHeld({ server, ours, rows, sample }: Context): Promise<object> {
  const holder = await server.connect();
  const { admin } = server;
  const holdMs = rows >= 100_000 ? 60_000 : 3000;
  console.error(`frontier: holding a snapshot for ${holdMs / 1000} s`);
  await holder.client.query(
    'SET idle_in_transaction_session_timeout = 0; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM domain_slots',
  );
  const { marks, leases } = await churn(ours.client, { leases: Math.min(30_000, rows / 8), overMs: holdMs });
  const held = await measure(admin, ours, () => leaseAndSettle(ours.client, { urls: sample / 12, marks }));
  // One domain per call, in turns: here the walk over dead entries stands out, and it is what marks are for.
  const walks = { marks: [] as Figures[], none: [] as Figures[] };
  for (let round = 0; round < 4 * rounds; round += 1) {
    const one = { urls: 1, slots: 1 };
    walks.marks.push(await measure(admin, ours, () => leaseAndSettle(ours.client, { ...one, marks })));
    walks.none.push(await measure(admin, ours, () => leaseAndSettle(ours.client, { ...one, marks: null })));
  }
  await holder.client.query('COMMIT');
  await admin.query('VACUUM domain_slots');
  await admin.query('VACUUM url_frontier');
  return {
    ...report('snapshot held', held),
    heldMs: holdMs,
    leasesMeanwhile: leases,
    oneDomain: report('snapshot held, one domain', combine(walks.marks)),
    oneDomainWithoutMarks: report('snapshot held, no marks', combine(walks.none)),
  };
}

/** A domain with a million URLs at the best level (as many as all the others together in smaller runs). */
async function measureHugeDomain({ server, ours, rows, sample }: Context): Promise<object> {
  const urls = Math.min(1_000_000, rows);
  console.error(`frontier: loading a domain with ${urls} URLs`);
  await loadHugeDomain(server.admin, urls);
  await unthrottle(server.admin);
  await server.admin.query('CHECKPOINT');
  await leaseAndSettle(ours.client, { urls: 100 });
  const others = await measure(server.admin, ours, () => leaseAndSettle(ours.client, { urls: sample / 6 }));
  const itself: Figures[] = [];
  for (let round = 0; round < 10; round += 1) {
    await releaseHugeDomain(server.admin);
    itself.push(await measure(server.admin, ours, () => leaseAndSettle(ours.client, { urls: 1, slots: 1 })));
  }
  return {
    ...report('beside a huge domain', others),
    urlsOfDomain: urls,
    itself: report('the huge domain itself', combine(itself)),
  };
}
