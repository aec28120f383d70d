import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { AppError } from '../../errors/index.ts';
import { packageRoot } from '../version.ts';

/** The simulated web in a process of its own, and questions to it. */
export type WebProcess = {
  port: number;
  ask<T>(path: string): Promise<T>;
  stop(): Promise<void>;
};

export type WebProcessOptions = { publishers: number; seed: number; speed: number; hostsFile: string };

/** Starts the simulated web and waits until it listens. */
export async function startWebProcess(options: WebProcessOptions): Promise<WebProcess> {
  const entry = join(packageRoot(), 'dist', 'test', 'web', 'main.js');
  const args = [
    '--publishers',
    options.publishers,
    '--seed',
    options.seed,
    '--speed',
    options.speed,
    '--hosts-file',
    options.hostsFile,
  ];
  // A group of its own: Ctrl-C must not end the web before the engine has stopped asking it.
  const child = spawn(process.execPath, [entry, ...args.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const { port, control } = await untilListening(child);
  return {
    port,
    ask: async <T>(path: string): Promise<T> => {
      const response = await fetch(`http://127.0.0.1:${control}${path}`);
      if (!response.ok) throw new Error(`the simulated web answered ${response.status} to ${path}`);
      return (await response.json()) as T;
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

async function untilListening(child: ChildProcess): Promise<{ port: number; control: number }> {
  const lines = createInterface({ input: child.stdout! });
  for await (const line of lines) {
    const message = JSON.parse(line) as { event?: string; port: number; control: number };
    if (message.event === 'listening') return message;
  }
  throw new AppError('demo_web_failed', 'the simulated web did not start', {
    advice: 'Its message above says why.',
  });
}
