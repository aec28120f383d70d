import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServiceManager } from '../../src/resilience/index.ts';
import { createLog } from '../../src/telemetry/index.ts';
import { waitUntil } from '../e2e/wait.ts';

const has = (tool: string): boolean => spawnSync(tool, ['--version']).status === 0;
const canHear = has('systemd-notify') && has('python3');

// Hears like systemd: prints each message, and lets go of the descriptor that the sender waits for.
const listener = `
import array, os, socket, sys
hear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
hear.bind(sys.argv[1])
print('LISTENING', flush=True)
while True:
    text, more, _, _ = hear.recvmsg(4096, 4096)
    for level, kind, data in more:
        if kind == socket.SCM_RIGHTS:
            for one in array.array('i', data): os.close(one)
    print(text.decode(), flush=True)
`;

let home: string;
let python: ChildProcess | undefined;
let heard = '';
const lines: { msg: string }[] = [];
const stream = { write: (line: string) => Boolean(lines.push(JSON.parse(line))) };
const log = createLog({ level: 'info', format: 'json', stream: stream as unknown as NodeJS.WritableStream });

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-notify-'));
  if (!canHear) return;
  python = spawn('python3', ['-c', listener, join(home, 'notify')], { stdio: ['ignore', 'pipe', 'inherit'] });
  python.stdout!.setEncoding('utf8').on('data', (text: string) => {
    heard += text;
  });
  await waitUntil('somebody listens', () => heard.includes('LISTENING'));
});
afterAll(() => {
  python?.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true });
});

// Without systemd there is nobody to tell, and without Python nobody here who hears datagrams.
test.skipIf(!canHear)('systemd hears that we are ready, that we are well, and that we stop', async () => {
  const env: Record<string, string | undefined> = {
    NOTIFY_SOCKET: join(home, 'notify'),
    WATCHDOG_USEC: '300000',
    WATCHDOG_PID: String(process.pid),
    OTHER: 'stays',
  };
  const manager = new ServiceManager(env, log);
  expect(env).toEqual({ OTHER: 'stays' });
  let isWell = false;
  manager.ready('4 processes\nrun', () => isWell);
  await waitUntil(
    'it heard that we are ready',
    () => heard.includes('READY=1\nSTATUS=4 processes run') || heard,
  );
  expect(heard).not.toContain('WATCHDOG=1');
  isWell = true;
  await waitUntil('it heard two beats', () => heard.split('WATCHDOG=1').length > 2 || heard);
  isWell = false;
  manager.stopping();
  await waitUntil('it heard that we stop', () => heard.includes('STOPPING=1') || heard);
  manager.close();
  expect(lines).toEqual([]);
});

test('a watchdog that is meant for another process is none of ours', async () => {
  const manager = new ServiceManager({ WATCHDOG_USEC: '1', WATCHDOG_PID: '1' }, log);
  manager.ready('ready', () => {
    throw new Error('nobody may be asked');
  });
  manager.stopping();
  manager.close();
  expect(lines).toEqual([]);
});

test('where it cannot be told, that is said once', async () => {
  const manager = new ServiceManager({ NOTIFY_SOCKET: join(home, 'nobody') }, log);
  manager.ready('ready', () => true);
  manager.stopping();
  await waitUntil('it is said', () => lines.length > 0);
  expect(lines).toMatchObject([{ msg: 'systemd could not be told how we do: is systemd-notify there?' }]);
});
