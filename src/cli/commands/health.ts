import { get } from 'node:http';
import type { Command } from 'commander';
import type { Config } from '../../config/index.ts';
import { EXIT, messageOf } from '../../errors/index.ts';
import { loadContext } from '../context.ts';
import { printJson } from '../output.ts';

// Whoever watches asks again soon; a role that needs longer than this for one word is in trouble.
const timeoutMs = 5000;
const mostBytes = 10_000;

type Health = { ready: boolean; address: string; reason: string };

/** `health`: one question to the role of this machine, as containers and service managers ask it. */
export function addHealthCommand(program: Command): void {
  program
    .command('health')
    .description('ask the role that runs on this machine whether it is ready; exit 1 if it is not')
    .option('--port <n>', 'port to ask: the health port of a role, or that of the API')
    .action(async (flags: { port?: string }, command: Command) => {
      const context = loadContext(command, { 'health.port': flags.port });
      const health = await askReady(addressOf(context.loaded.config, flags.port !== undefined));
      if (context.flags.json) printJson(health);
      else
        process.stdout.write(health.ready ? 'ready\n' : `not ready: ${health.reason} (${health.address})\n`);
      if (!health.ready) process.exitCode = EXIT.failed;
    });
}

/** The health port where one is set or named, the API's otherwise; a role that listens everywhere is asked on loopback. */
function addressOf({ health, api }: Config, isNamed: boolean): string {
  const isApi = health.port === 0 || (isNamed && health.port === api.port);
  const { host, port } = isApi ? api : health;
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

function askReady(address: string): Promise<Health> {
  return new Promise((resolve) => {
    const end = (ready: boolean, reason: string): void => resolve({ ready, address, reason });
    // Without an agent no connection stays open behind us.
    const request = get(`${address}/readyz`, { agent: false, signal: AbortSignal.timeout(timeoutMs) });
    request.on('error', (error) =>
      end(false, error.name === 'TimeoutError' ? 'no answer in time' : messageOf(error)),
    );
    request.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('error', (error) => end(false, messageOf(error)));
      response.on('data', (text: string) => {
        body = (body + text).slice(0, mostBytes);
      });
      response.on('end', () =>
        response.statusCode === 200
          ? end(true, 'ready')
          : end(false, reasonOf(body) ?? `it answered ${response.statusCode}`),
      );
    });
  });
}

function reasonOf(body: string): string | null {
  try {
    const { reason } = JSON.parse(body) as { reason?: unknown };
    return typeof reason === 'string' ? reason : null;
  } catch {
    return null; // some other program answers on that port: its status is all there is to tell
  }
}
