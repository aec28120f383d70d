import { createInterface } from 'node:readline';
import { runCli } from '../../src/cli/program.ts';

// Runs command after command in one process: loading the program takes longer than most commands do. What they write is
// caught; only answers go to the real output.
type Order = { args: string[]; env: Record<string, string>; cwd: string };

const answer = process.stdout.write.bind(process.stdout);
const initial = { ...process.env };

for await (const line of createInterface({ input: process.stdin })) {
  const { args, env, cwd } = JSON.parse(line) as Order;
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, { PATH: initial.PATH, ...env });
  process.chdir(cwd);
  process.exitCode = undefined;
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    process[name].write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
      said[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
      const done = rest.find((one) => typeof one === 'function') as (() => void) | undefined;
      if (done !== undefined) process.nextTick(done);
      return true;
    }) as typeof process.stdout.write;
  const code = await runCli(args);
  answer(`${JSON.stringify({ code, signal: null, ...said })}\n`);
}
