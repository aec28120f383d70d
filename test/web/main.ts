import { fstatSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { startControl } from './control.ts';
import { demoPublishers, startWeb } from './index.ts';

const dayMs = 86_400_000;
const parentCheckMs = 1_000;

/** Process entry: one JSON line on stdout when ready, then it serves until SIGTERM or until its parent is gone. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      publishers: { type: 'string', default: '40' },
      seed: { type: 'string', default: '7' },
      speed: { type: 'string', default: '1' },
      port: { type: 'string', default: '0' },
      backlog: { type: 'string' },
      'page-kb': { type: 'string', default: '0' },
      start: { type: 'string' },
      healthy: { type: 'boolean', default: false },
      'hosts-file': { type: 'string' },
      'log-capacity': { type: 'string' },
    },
  });
  const seed = Number(values.seed);
  const count = Number(values.publishers);
  const speed = Number(values.speed);
  const size = {
    pageKb: Number(values['page-kb']),
    ...(values.backlog === undefined ? {} : { backlog: Number(values.backlog) }),
  };
  const web = await startWeb({
    seed,
    publishers: values.healthy ? count : demoPublishers(count, seed, size),
    speed,
    port: Number(values.port),
    startMs: startOf(values.start, speed),
    ...size,
    ...(values['log-capacity'] === undefined ? {} : { logCapacity: Number(values['log-capacity']) }),
  });
  if (values['hosts-file'] !== undefined) await web.writeHostsFile(values['hosts-file']);
  const control = await startControl(web);

  let closing = false;
  const stop = () => {
    if (closing) return;
    closing = true;
    Promise.all([web.close(), control.close()]).then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  watchParent(stop);
  console.log(
    JSON.stringify({ event: 'listening', port: web.port, control: control.port, pid: process.pid }),
  );
}

/** A web nobody owns must not stay: a parent that dies without a signal closes our pipe or leaves us to another. */
function watchParent(stop: () => void): void {
  const input = fstatSync(0);
  // /dev/null and terminals say nothing about the parent.
  if (input.isFIFO() || input.isSocket()) {
    process.stdin.on('end', stop);
    process.stdin.on('error', stop);
    process.stdin.resume();
  }
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) stop();
  }, parentCheckMs).unref();
}

/** A fast clock starts a day back, or articles would soon be dated in the crawler's future. */
function startOf(given: string | undefined, speed: number): number {
  if (given === undefined) return speed > 1 ? Date.now() - dayMs : Date.now();
  const parsed = Date.parse(given);
  if (Number.isNaN(parsed)) throw new Error(`--start ${given} is not a date`);
  return parsed;
}

await main();
