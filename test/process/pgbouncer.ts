import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

const usualPlaces = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'];

/** Path of a PgBouncer on this machine (`PGBOUNCER`, or where packages put it); null without one. */
export function findPgBouncer(): string | null {
  const given = process.env.PGBOUNCER;
  return given !== undefined && given !== '' ? given : (usualPlaces.find((one) => existsSync(one)) ?? null);
}

/** Starts a PgBouncer in transaction mode, as the user the server's socket belongs to. */
export async function startPgBouncer(options: {
  path: string;
  socketDir: string;
  servers: number;
}): Promise<{ port: number; close(): Promise<void> }> {
  const { uid, gid } = statSync(options.socketDir);
  const dir = mkdtempSync(join(tmpdir(), 'outrider-pgbouncer-'));
  const port = await freePort();
  const file = join(dir, 'pgbouncer.ini');
  // The settings of docs/guides/scaling.md; nothing in it is made to please us.
  writeFileSync(
    file,
    `[databases]
* = host=${options.socketDir}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${options.servers}
max_client_conn = 200
server_reset_query =
`.replace(
      '* = host=',
      // With auth_type any the server is entered as one user, whatever the client says.
      '* = user=outrider host=',
    ),
  );
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) chownSync(dir, uid, gid);
  const child = spawn(options.path, [file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(isRoot ? { uid, gid } : {}),
  });
  const ended = once(child, 'exit');
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (/process up/.test(said)) resolve();
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`PgBouncer did not start: ${said}`)));
  });
  return {
    port,
    close: async () => {
      child.kill('SIGINT');
      child.kill('SIGTERM');
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
