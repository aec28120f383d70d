import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

const entry = new URL('../../dist/src/cli/stop-signals.js', import.meta.url).href;

/** A program that stops by signals; what it says and how it ends. */
async function run(
  onReady: (kill: (signal: NodeJS.Signals) => void) => void,
): Promise<[string, number | null]> {
  const program = `const { untilStopped } = await import(${JSON.stringify(entry)});
    setInterval(() => undefined, 1000);
    void untilStopped(() => process.stdout.write('ended all')).then((why) => process.stdout.write(why + ' '));
    process.stdout.write('ready ');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { env: {} });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (said === 'ready ') onReady((signal) => child.kill(signal));
    // The first signal only asks.
    else if (said === 'ready SIGTERM ') child.kill('SIGINT');
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return [said, code];
}

test('the first signal asks, the second ends at once what is there and itself with 130', async () => {
  expect(await run((kill) => kill('SIGTERM'))).toEqual(['ready SIGTERM ended all', 130]);
});
