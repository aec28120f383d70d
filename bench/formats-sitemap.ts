/** Reads a generated sitemap of argv[2] megabytes as a stream and prints peak memory and the longest block. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { readSitemap } from '../src/feed-formats/index.ts';
import { makeSitemap } from './formats-documents.ts';

const megabytes = Number(process.argv[2] ?? 500);
await setImmediate();
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const start = performance.now();
let lastLoc = '';
const result = await readSitemap(makeSitemap(megabytes * 1_000_000 - 100_000), {
  maxEntries: 10_000_000,
  onEntries: (entries) => {
    lastLoc = entries.at(-1)?.loc ?? lastLoc;
  },
});
const seconds = (performance.now() - start) / 1000;
delay.disable();
console.log(
  JSON.stringify({
    mb: Math.round(result.bytes / 1_000_000),
    kind: result.kind,
    entries: result.count,
    lastLoc,
    stopped: result.stopped,
    seconds: Math.round(seconds * 10) / 10,
    peakRssMb: Math.round(process.resourceUsage().maxRSS / 1024),
    maxBlockMs: Math.round(delay.max / 10_000) / 100,
  }),
);
