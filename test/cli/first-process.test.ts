import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitUntil } from '../e2e/wait.ts';
import { createTestDatabase, type TestDatabase } from '../setup/database.ts';

// The first process of a container: the kernel gives it no signal that it does not listen to.
const program = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
// Root needs no users of its own there, and would lose its way to files of others.
const users = process.getuid?.() === 0 ? [] : ['--map-root-user'];
const flags = [...users, '--pid', '--fork', '--kill-child', '--mount-proc'];
const mayUnshare = spawnSync('unshare', [...flags, 'true']).status === 0;
if (!mayUnshare) console.warn('SKIPPED, signals to the first process: this user may make no namespaces');

let home: string;
let database: TestDatabase;
const started: ChildProcess[] = [];

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'outrider-first-'));
  database = await createTestDatabase();
});
afterAll(async () => {
  for (const child of started) child.kill('SIGKILL');
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

type First = { child: ChildProcess; said: () => string; signal: (name: NodeJS.Signals) => void };

function startFirst(args: string[], env: Record<string, string> = {}): First {
  const child = spawn('unshare', [...flags, process.execPath, program, ...args], {
    cwd: home,
    env: { PATH: process.env.PATH ?? '', HOME: home, LOG_FORMAT: 'json', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  let text = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  const signal = (name: NodeJS.Signals): void => {
    const [inner] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ');
    process.kill(Number(inner), name);
  };
  return { child, said: () => text, signal };
}

async function codeOf({ child }: First): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode;
}

test.runIf(mayUnshare)('a command that listens to no signal ends at one', async () => {
  // Somebody who takes connections and never answers: the command waits five seconds for it, then ends with 1.
  let asked: Socket | undefined;
  const silent = createServer((socket) => {
    asked = socket;
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const first = startFirst(['health', '--port', String((silent.address() as { port: number }).port)]);
  await waitUntil('it asks', () => asked !== undefined || first.said());
  first.signal('SIGTERM');
  expect(await codeOf(first)).toBe(143);
  asked?.destroy();
  silent.close();
});

test.runIf(mayUnshare)('a role stops in order', async () => {
  const first = startFirst(['serve', '--port', '0'], { DATABASE_URL: database.url });
  await waitUntil('it serves', () => first.said().includes('serve is running') || first.said());
  first.signal('SIGTERM');
  expect(await codeOf(first), first.said()).toBe(0);
  expect(first.said()).toContain('serve is stopping');
});
