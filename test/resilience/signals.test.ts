import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

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

test('the same signal at once again is the same wish, as timeout tells it to a program and to its group', async () => {
  const program = `const { untilStopped } = await import(${JSON.stringify(entry)});
    setInterval(() => undefined, 1000);
    void untilStopped().then(() => {
      process.emit('SIGTERM');
      process.exit(0);
    });
    process.stdout.write('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { env: {} });
  child.stdout.once('data', () => child.kill('SIGTERM'));
  expect(await once(child, 'close')).toEqual([0, null]);
});

test('a signal that came before anybody had time to hear it stops what took over meanwhile', async () => {
  const program = `const { endAtSignals, untilStopped } = await import(${JSON.stringify(entry)});
    const { spawnSync } = await import('node:child_process');
    endAtSignals({ SIGTERM: 1, SIGINT: 1 });
    spawnSync('kill', ['-TERM', String(process.pid)]);
    void untilStopped().then((why) => process.exit(why === 'SIGTERM' ? 0 : 2));
    // Heard at the first turn of the event loop, or never.
    setTimeout(() => process.exit(3), 500);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { PATH: process.env.PATH },
    stdio: 'ignore',
  });
  expect(await once(child, 'exit')).toEqual([0, null]);
});

describe('a signal that comes while the program still loads', () => {
  const program = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
  const inline = (code: string): string =>
    `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`;

  /** How the program ends when it is signalled at the moment it asks for its own commands, which never come. */
  async function endWhileLoading(
    args: readonly string[],
    signal: NodeJS.Signals,
  ): Promise<[number | null, string | null]> {
    const hook = `export async function resolve(name, context, next) {
      if (!name.endsWith('/program.js')) return next(name, context);
      process.kill(process.pid, '${signal}');
      return new Promise(() => undefined);
    }`;
    const preload = `import { register } from 'node:module';
      register('${inline(hook)}');
      setInterval(() => undefined, 1000);`;
    const child = spawn(process.execPath, [`--import=${inline(preload)}`, program, ...args], {
      env: {},
      stdio: 'ignore',
    });
    return (await once(child, 'exit')) as [number | null, string | null];
  }

  test.each(['up', 'serve', 'fetch', 'schedule'])('has stopped %s as asked', async (role) => {
    expect(await endWhileLoading([role], 'SIGTERM')).toEqual([0, null]);
  });

  test('so has Ctrl-C, behind options too', async () => {
    expect(await endWhileLoading(['--json', 'fetch'], 'SIGINT')).toEqual([0, null]);
  });

  test('ends other commands as a shell expects it', async () => {
    expect(await endWhileLoading(['sources'], 'SIGINT')).toEqual([null, 'SIGINT']);
  });
});
