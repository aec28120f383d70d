import dns from 'node:dns';
import { readFileSync } from 'node:fs';

// Loaded before the program (NODE_OPTIONS=--import): gives a process a wall clock of its own and a name server. The
// clock's error stands in a file, so that it can jump while the process runs.

const file = process.env.TORTURE_SKEW_FILE;
const server = process.env.TORTURE_DNS;
if (server !== undefined) dns.setServers([server]);

if (file !== undefined) {
  const RealDate = Date;
  let skewMs = 0;
  const look = (): void => {
    try {
      skewMs = Number(readFileSync(file, 'utf8')) || 0;
    } catch {
      // Not written yet: the clock is right.
      skewMs = 0;
    }
  };
  look();
  setInterval(look, 250).unref();
  class SkewedDate extends RealDate {
    constructor(...args: unknown[]) {
      if (args.length === 0) super(RealDate.now() + skewMs);
      else super(...(args as [number]));
    }

    static override now(): number {
      return RealDate.now() + skewMs;
    }
  }
  globalThis.Date = SkewedDate as DateConstructor;
}
