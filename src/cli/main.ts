#!/usr/bin/env node
import { watchStderr, watchStdout } from './stdout.ts';
import { decideEarlyEnd, endAtSignals } from './stop-signals.ts';

const earlyEnd = decideEarlyEnd(process.argv.slice(2), process.pid);
if (earlyEnd !== null) endAtSignals(earlyEnd);

watchStdout();
watchStderr();

// Loaded behind the lines above: it takes a while, on a busy machine seconds, and it may be stopped meanwhile.
const { runCli } = await import('./program.ts');
process.exitCode = await runCli(process.argv.slice(2));
// A role that could not start still hears its supervisor, and an open channel keeps a process alive for ever.
if (process.connected) process.disconnect();
