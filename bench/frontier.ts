/** The frontier beside the usual queues: what one URL costs the server, at any number of rows. */
import { loadavg } from 'node:os';
import { loadFrontier, planDomains } from './frontier/load.ts';
import { measure } from './frontier/meter.ts';
import { leaseAndSettle, submitMany } from './frontier/ours.ts';
import { startBenchServer } from './frontier/server.ts';

export async function run(args: string[]): Promise<object> {
  const rows = Number(args[1] ?? 100_000);
  const server = await startBenchServer();
  try {
    const domains = planDomains(rows);
    console.error(`load ${rows} in ${domains.length}`);
    await loadFrontier(server.admin, domains);
    const ours = await server.connect();
    const out: Record<string, unknown> = { load: loadavg()[0] };
    await leaseAndSettle(ours.client as never, { urls: 500 });
    await server.admin.query('CHECKPOINT');
    out.open = await measure(server.admin, ours, () =>
      leaseAndSettle(ours.client as never, { urls: 10_000 }),
    );
    console.error(out.open);
    out.log = await measure(server.admin, ours, () =>
      leaseAndSettle(ours.client as never, { urls: 5_000, log: true }),
    );
    console.error(out.log);
    for (const [name, share] of [
      ['new', 0],
      ['90', 0.9],
      ['all', 1],
    ] as const) {
      out[name] = await measure(server.admin, ours, async () => {
        const r = await submitMany(ours.client as never, domains, {
          urls: 10_000,
          knownShare: share,
          serial: name.length,
        });
        console.error(r);
        return r;
      });
      console.error(name, out[name]);
    }
    return out;
  } finally {
    await server.close();
  }
}
