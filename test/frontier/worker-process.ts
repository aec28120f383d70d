import { isConnectionLost, openDatabase } from '../../src/db/index.ts';
import { Leaser, settle } from '../../src/frontier/index.ts';

// A worker for the kill tests: leases, waits, settles, and says on stdout what it did, one JSON line each.
// Arguments: data directory, owner, lease ms, delay ms.
const [dataDir = '', owner = '', leaseText = '', delayText = ''] = process.argv.slice(2);
const leaseMs = Number(leaseText);
const defaultDelayMs = Number(delayText);
const say = (event: object): void =>
  void process.stdout.write(`${JSON.stringify({ owner, at: Date.now(), ...event })}\n`);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const database = await openDatabase({ dataDir, migrate: false, maxConnections: 2, applicationName: owner });
process.on('SIGTERM', () => process.exit(0));
const leaser = new Leaser({ db: database.pool, monotonic: () => performance.now() });
say({ event: 'ready' });

for (;;) {
  try {
    await leaser.promote({ slots: 50 });
    const askedAt = Date.now();
    const leases = await leaser.lease({
      owner,
      pool: 'default',
      slots: 2,
      leaseMs,
      defaultDelayMs,
      batch: 5,
    });
    for (const held of leases) {
      const urls = held.urls.map((url) => url.hash.toString('hex'));
      say({ event: 'handed', domain: held.domainKey.toString(), epoch: Number(held.epoch), urls, askedAt });
    }
    for (const held of leases) {
      await pause(Math.random() * 15);
      const now = performance.now();
      const items = held.urls.map((url) => {
        const fails = Math.random() < 0.2;
        return {
          hash: url.hash,
          status: fails ? ('failed' as const) : ('fetched' as const),
          kind: 'article' as const,
          dueInMs: fails ? 50 : null,
          fetched: true,
          tries: fails ? url.tries + 1 : 0,
          errorCode: fails ? 'http_500' : null,
        };
      });
      const result = await settle(database.pool, held, {
        owner,
        final: true,
        items,
        documents: [],
        requests: [],
        monotonicMs: now,
        lastAnswerAt: now,
        defaultDelayMs,
      });
      const ended =
        result.outcome === 'settled'
          ? items.filter((item) => item.status === 'fetched').map((item) => item.hash.toString('hex'))
          : [];
      say({
        event: 'settled',
        domain: held.domainKey.toString(),
        epoch: Number(held.epoch),
        outcome: result.outcome,
        settled: result.settled,
        ended,
      });
    }
    if (leases.length === 0) await pause(10);
  } catch (error) {
    if (!isConnectionLost(error)) {
      say({ event: 'error', message: error instanceof Error ? error.message : String(error) });
      process.exit(1);
    }
    await pause(50);
  }
}
