import { lookup } from 'node:dns/promises';
import { accessSync, constants, existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../config/index.ts';
import { defaultDataDir } from '../db/index.ts';
import { messageOf } from '../errors/index.ts';
import { type CheckResult, fail, ok, warn } from './check.ts';

const oldestNode = [20, 19] as const;

/** Whether this Node is one we run on, and one that still gets security fixes. */
export function checkNode(version = process.versions.node): CheckResult {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]))
    return fail(`Node ${version} is too old.`, 'Install Node 22 or 24; 20.19 is the oldest that works.');
  if (major === oldestNode[0])
    return warn(
      `Node ${version} works, but Node 20 is past its end of life.`,
      'Install Node 22 or 24: they get security fixes.',
    );
  return ok(`Node ${version}.`);
}

/** Whether publishers can find out who crawls them. */
export function checkContact({ fetch }: Config): CheckResult {
  const agent = [fetch.userAgent ?? '', ...fetch.userAgents].join(' ');
  if (fetch.contactUrl === null && !/https?:\/\/|@/.test(agent))
    return warn(
      'The user agent names nobody whom a publisher could ask.',
      'Set fetch.contact_url (OUTRIDER_FETCH_CONTACT_URL) to a page about your crawl before you crawl the web.',
    );
  if (fetch.contactUrl !== null && !URL.canParse(fetch.contactUrl))
    return warn(
      `fetch.contact_url is no web address: ${fetch.contactUrl}`,
      'Give a whole one, as https://example.com/our-crawler',
    );
  return ok(
    fetch.contactUrl === null
      ? 'The user agent says who crawls.'
      : `Publishers are sent to ${fetch.contactUrl}`,
  );
}

/** Whether names can be resolved: without that nothing can be fetched, unless a proxy does it. */
export async function checkNames({ fetch }: Config): Promise<CheckResult> {
  const name =
    fetch.contactUrl !== null && URL.canParse(fetch.contactUrl)
      ? new URL(fetch.contactUrl).hostname.replace(/^\[|\]$/g, '')
      : 'example.com';
  try {
    const { address } = await lookup(name);
    return ok(`${name} is ${address}.`);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? messageOf(error);
    const advice =
      fetch.proxies.length > 0
        ? 'Requests leave by proxies, which may resolve names themselves; the contact address should exist all the same.'
        : 'Check the network of this machine and its resolver (/etc/resolv.conf). Nothing can be fetched without.';
    return warn(`${name} cannot be resolved (${code}).`, advice);
  }
}

const tightBytes = 1_000_000_000;
const fullBytes = 100_000_000;

/** The folders that are written to, by what they are for. */
export function foldersOf(config: Config): { what: string; path: string }[] {
  const data = config.data.dir ?? defaultDataDir();
  return [
    // A server elsewhere keeps its own data; then only what lies beside it matters.
    ...(config.database.url === null ? [{ what: 'data', path: data }] : []),
    ...(config.blobs.kind === 'folder'
      ? [{ what: 'images', path: config.blobs.dir ?? join(data, 'blobs') }]
      : []),
    ...(config.files.dir === null ? [] : [{ what: 'NDJSON', path: config.files.dir }]),
    ...(config.warc.dir === null ? [] : [{ what: 'WARC', path: config.warc.dir }]),
  ];
}

/** Whether a folder can be written to and has room; one that is not there yet is made in the nearest that is. */
export async function checkFolder(what: string, path: string): Promise<CheckResult> {
  let there = resolve(path);
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  const where = `The ${what} folder ${path}`;
  try {
    accessSync(there, constants.W_OK | constants.X_OK);
  } catch {
    return fail(
      `${where} cannot be written to${there === resolve(path) ? '' : ` (${there} is not ours)`}.`,
      `Give this user the right to write there, or name another folder${what === 'data' ? ' with --data' : ''}.`,
    );
  }
  const { bavail, bsize } = await statfs(there);
  const free = bavail * bsize;
  const room = `${where} has ${sizeText(free)} left`;
  const advice = 'Free some room, or move the folder to a larger disk.';
  if (free < fullBytes) return fail(`${room}.`, advice);
  return free < tightBytes ? warn(`${room}.`, advice) : ok(`${room}.`);
}

const sizeText = (bytes: number): string =>
  bytes >= 10e9
    ? `${Math.floor(bytes / 1e9)} GB`
    : bytes >= 1e9
      ? `${(bytes / 1e9).toFixed(1)} GB`
      : `${Math.floor(bytes / 1e6)} MB`;

const portWaitMs = 3000;

/** Whether the API's port is free, or answered by an Outrider. */
export async function checkPort({ api }: Config): Promise<CheckResult> {
  const { host, port } = api;
  if (port === 0) return ok('The API takes any free port.');
  const trouble = await tryListen(host, port);
  if (trouble === null)
    return ok(`Port ${port} on ${host} is free: no API runs here. "outrider up" starts one.`);
  if (trouble === 'EACCES')
    return fail(
      `Port ${port} may not be used by this user.`,
      'Choose one above 1023 with OUTRIDER_API_PORT.',
    );
  if (trouble !== 'EADDRINUSE')
    return fail(
      `The API cannot listen on ${host}, port ${port} (${trouble}).`,
      'Correct api.host: it must be an address of this machine.',
    );
  const asked = /^(0\.0\.0\.0|::)$/.test(host) ? '127.0.0.1' : host;
  const address = `http://${asked.includes(':') ? `[${asked}]` : asked}:${port}`;
  if (await isOutrider(address)) return ok(`The API answers at ${address}`);
  return fail(
    `Port ${port} on ${host} is in use by another program.`,
    'Stop that program, or choose another port with OUTRIDER_API_PORT or --port.',
  );
}

function tryListen(host: string, port: number): Promise<string | null> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => done(null)));
  });
}

async function isOutrider(address: string): Promise<boolean> {
  try {
    const response = await fetch(`${address}/healthz`, { signal: AbortSignal.timeout(portWaitMs) });
    const text = (await response.text()).slice(0, 200);
    return response.ok && /^\{"status":"ok"/.test(text);
  } catch {
    // Whatever listens there, it does not speak as we do.
    return false;
  }
}
