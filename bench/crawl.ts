/** The whole way of a page beside other crawlers: CPU time and memory for the same pages of the simulated web. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OurRound, type Ours, startOurs } from './crawl/ours.ts';
import { type CrawlPeer, type PeerRound, startPeer } from './crawl/peer.ts';
import { type BenchWeb, startBenchWeb } from './crawl/web.ts';
import { weighPages } from './crawl/weigh.ts';
import { readOptions } from './options.ts';
import { preparePeers } from './peer-packages.ts';

// Two, so that everybody meets a quiet and a busy moment; more would leave a lease of ours fewer pages than it settles at once.
const rounds = 2;
// Read by everybody before anything is measured: a fetcher runs for weeks, and compiling its code takes the first seconds.
const warmUpPages = 2000;
// As many as a fetcher of ours has domains at once.
const concurrency = 50;
const memoryReadings = 10;
const peerNames = { crawlee: 'crawlee', crawleeList: 'crawlee-list', fetchOnly: 'fetch-only' } as const;

/** Pages a second and CPU time of a page, ours and the alternatives' in turn. */
export async function run(args: string[]): Promise<object> {
  const values = readOptions(args, {
    pages: ['pages for each', 10_000],
    'page-kb': ['what a page weighs; 0: bare ones of some 6 kB', 80],
    peers: ['install the alternatives first', false],
    'no-peers': ['leave the alternatives out', false],
    cold: ['measure from the first page on', false],
    profile: ['a folder in which every process leaves a CPU profile', ''],
  });
  const profileDir = values.profile || null;
  const wanted = !values['no-peers'];
  const withPeers =
    wanted && (await preparePeers(['@crawlee/cheerio', 'undici', 'htmlparser2'], values.peers));
  if (wanted && !withPeers)
    console.error('crawl: Crawlee and undici are left out: bench/peers is not installed (--peers does)');
  const dir = mkdtempSync(join(tmpdir(), 'outrider-crawl-'));
  const warmUp = values.cold ? 0 : warmUpPages;
  const pageKb = values['page-kb'];
  const web = await startBenchWeb(values.pages + warmUp, { hostsFile: join(dir, 'hosts'), pageKb });
  try {
    const ours = await startOurs(web, { profileDir });
    const pagesFile = join(dir, 'pages.json');
    writePages(web, pagesFile);
    const options = { pagesFile, concurrency, profileDir };
    const peers: Peers = new Map();
    if (withPeers)
      for (const [key, name] of Object.entries(peerNames)) peers.set(key, await startPeer(name, options));
    const load = Math.round(loadavg()[0]! * 100) / 100;
    const result = await measure({ web, ours, peers, warmUp }).finally(async () => {
      for (const peer of peers.values()) await peer.stop();
      await ours.stop();
    });
    return {
      node: process.version,
      pages: web.pages.length - warmUp,
      warmUp,
      pageKb,
      ...(await weighPages(web)),
      load,
      ...result,
    };
  } finally {
    await web.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

function writePages(web: BenchWeb, file: string): void {
  const pages = web.pages.map(({ host, path }) => `http://${host}:${web.port}${path}`);
  writeFileSync(file, JSON.stringify({ pages, addresses: web.addresses }));
}

type Peers = Map<string, CrawlPeer>;

type Contest = { web: BenchWeb; ours: Ours; peers: Peers; warmUp: number };

async function measure({ web, ours, peers, warmUp }: Contest): Promise<object> {
  if (warmUp > 0) {
    console.error(`crawl: ${warmUp} pages to warm up`);
    await ours.crawl(web.pages.slice(0, warmUp));
    for (const peer of peers.values()) await peer.crawl(0, warmUp);
  }
  const pages = web.pages.length - warmUp;
  const done: OurRound[] = [];
  const peersDone = new Map<string, PeerRound[]>();
  for (let round = 0; round < rounds; round += 1) {
    const from = warmUp + Math.floor((pages * round) / rounds);
    const to = warmUp + Math.floor((pages * (round + 1)) / rounds);
    const turns = [
      async () => {
        const one = await ours.crawl(web.pages.slice(from, to));
        done.push(one);
        say('ours', one, `node ${perThousand(one.nodeCpuMs, one)}, pg ${perThousand(one.pgCpuMs, one)}`);
      },
      ...[...peers].map(([name, peer]) => async () => {
        const one = await peer.crawl(from, to);
        peersDone.set(name, [...(peersDone.get(name) ?? []), one]);
        say(name, one, `${perThousand(one.cpuMs, one)}`);
      }),
    ];
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
  }
  return {
    ours: {
      nodeCpuSPer1000: mean(done, (one) => one.nodeCpuMs),
      pgCpuSPer1000: mean(done, (one) => one.pgCpuMs),
      rssMb: Math.round(ours.peakRssMb()),
      rssMbOverTime: thinned(ours.rssMb),
      pagesPerS: speed(done),
    },
    ...Object.fromEntries([...peers].map(([name, peer]) => [name, peerFigures(peersDone.get(name)!, peer)])),
  };
}

function peerFigures(parts: readonly PeerRound[], peer: CrawlPeer): object {
  return {
    cpuSPer1000: mean(parts, (one) => one.cpuMs),
    rssMb: Math.round(peer.peakRssMb()),
    pagesPerS: speed(parts),
  };
}

type Part = { pages: number; elapsedMs: number };

const round2 = (value: number): number => Math.round(value * 100) / 100;
const sum = <T>(parts: readonly T[], pick: (part: T) => number): number =>
  parts.reduce((total, part) => total + pick(part), 0);
// Milliseconds per page are seconds per thousand pages.
const mean = <T extends Part>(parts: readonly T[], pick: (part: T) => number): number =>
  round2(sum(parts, pick) / sum(parts, (part) => part.pages));
const perThousand = (cpuMs: number, part: Part): number => round2(cpuMs / part.pages);
const speed = (parts: readonly Part[]): number =>
  Math.round((sum(parts, (part) => part.pages) / sum(parts, (part) => part.elapsedMs)) * 1000);

function say(name: string, part: Part, cpu: string): void {
  console.error(
    `crawl: ${name.padEnd(10)} ${part.pages} pages, CPU seconds per 1,000: ${cpu}; ${speed([part])} pages/s`,
  );
}

/** A few of many readings, evenly over the run. */
function thinned(readings: readonly number[]): number[] {
  const step = Math.max(1, readings.length / memoryReadings);
  const some: number[] = [];
  for (let at = step - 1; at < readings.length; at += step) some.push(Math.round(readings[Math.floor(at)]!));
  return some;
}
