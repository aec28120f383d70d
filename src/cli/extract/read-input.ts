import { existsSync, readFileSync, statSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { type Config, userAgentOf } from '../../config/index.ts';
import { AppError, EXIT, messageOf } from '../../errors/index.ts';
import {
  acceptsPages,
  createHttpClient,
  decideStatus,
  type HttpResult,
  parseHostsFile,
} from '../../fetch/index.ts';
import type { Context } from '../context.ts';

/** A page to read, and how it was answered. */
export type Input = {
  body: Buffer;
  /** Where it is from; null: a file of which nobody said. */
  url: string | null;
  status: number;
  headers: Record<string, string>;
  /** The page came from a server. */
  isAnswer: boolean;
};

export const MAX_HOPS = 5;

/** Reads a file, standard input for `-`, or asks an address once. */
export async function readInput(context: Context, target: string, url: string | undefined): Promise<Input> {
  if (url !== undefined && !isAddress(url)) throw noAddress(`--url ${url}`);
  const local = (body: Buffer): Input => ({
    body: unpacked(body, context.loaded.config.fetch.maxBodyBytes),
    url: url ?? null,
    status: 200,
    headers: {},
    isAnswer: false,
  });
  if (target === '-') return local(await readStandardInput(context.loaded.config.fetch.maxBodyBytes));
  if (!/^https?:\/\//i.test(target) || existsSync(target))
    return local(readPageFile(target, context.loaded.config.fetch.maxBodyBytes));
  if (!isAddress(target)) throw noAddress(target);
  return fetchPage(context, target);
}

const isAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text);

const noAddress = (given: string): AppError =>
  new AppError('usage', `"${given}" is no address of a page`, {
    exitCode: EXIT.usage,
    advice: 'Give it whole, as https://www.example.com/story',
  });

/** A file that a person named. */
export function readFileOf(file: string, advice: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new AppError('usage', `"${file}" cannot be read: ${messageOf(error)}`, {
      exitCode: EXIT.usage,
      cause: error,
      advice,
    });
  }
}

function readPageFile(file: string, maxBytes: number): Buffer {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > maxBytes) throw tooLarge(file, size, maxBytes);
  return readFileOf(file, 'Give a file, - for standard input, or an address that begins with https://');
}

async function readStandardInput(maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of process.stdin) {
    size += (piece as Buffer).length;
    if (size > maxBytes) throw tooLarge('standard input', size, maxBytes);
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}

/** Saved pages are often packed. */
function unpacked(body: Buffer, maxBytes: number): Buffer {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body;
  try {
    return gunzipSync(body, { maxOutputLength: maxBytes });
  } catch (error) {
    throw new AppError('usage', `it is packed with gzip and cannot be unpacked: ${messageOf(error)}`, {
      exitCode: EXIT.usage,
      cause: error,
      advice: 'Unpack it first.',
    });
  }
}

const tooLarge = (what: string, size: number, maxBytes: number): AppError =>
  new AppError('usage', `${what} has ${size} bytes or more, and a page is read up to ${maxBytes}`, {
    exitCode: EXIT.usage,
    advice: 'fetch.max_body_bytes sets how much; fetchers refuse larger pages too.',
  });

async function fetchPage({ loaded: { config }, version }: Context, address: string): Promise<Input> {
  const client = createHttpClient({
    userAgent: userAgentOf(config, version),
    allowNetworks: config.fetch.allowNetworks,
    ...hostsOf(config),
    timeoutMs: config.fetch.timeoutMs,
    headersTimeoutMs: config.fetch.headersTimeoutMs,
    maxBodyBytes: config.fetch.maxBodyBytes,
  });
  try {
    let url = address;
    for (let hop = 0; hop <= MAX_HOPS; hop++) {
      const result = await client.request({ url, accept: acceptsPages });
      if (result.outcome === 'redirect') url = new URL(result.location, url).href;
      else if (result.outcome === 'response')
        return { body: result.body, url, status: result.status, headers: result.headers, isAnswer: true };
      else throw unusable(url, result);
    }
    throw new AppError('fetch_failed', `${address} leads on more than ${MAX_HOPS} times`);
  } finally {
    await client.close();
  }
}

function hostsOf({ fetch: { hostsFile } }: Config): { hosts?: ReturnType<typeof parseHostsFile> } {
  if (hostsFile === null) return {};
  return { hosts: parseHostsFile(readFileOf(hostsFile, 'fetch.hosts_file names it.').toString('utf8')) };
}

/** The outcome a crawl would give an answer that is no success; null for what is one. */
export function refusedAnswer({ status }: Input): { reason: string; detail: string } | null {
  if (status >= 200 && status < 300) return null;
  const { verdict } = decideStatus(status, null, { tries: 0, maxTries: 1 });
  return { reason: verdict.errorCode ?? `http_${status}`, detail: `the server answered ${status}` };
}

function unusable(url: string, result: Exclude<HttpResult, { outcome: 'response' }>): AppError {
  const { why, advice } = troubleOf(url, result);
  return new AppError('fetch_failed', `${url} could not be fetched (${why})`, {
    retry: result.outcome === 'failed',
    advice,
  });
}

function troubleOf(url: string, result: Exclude<HttpResult, { outcome: 'response' }>) {
  if (result.outcome === 'unsupported_type')
    return {
      why: `unsupported_type: ${result.contentType}`,
      advice: 'Only HTML pages are read; feeds and sitemaps are followed with `outrider add`.',
    };
  if (result.outcome !== 'failed')
    return { why: result.outcome, advice: 'Save the page in a browser and give the file.' };
  const { port, hostname } = new URL(url);
  const advice =
    result.kind === 'refused_address'
      ? `Private addresses need --allow-network, as 127.0.0.0/8:${port || 80}.`
      : result.kind === 'refused_port'
        ? `Ports other than 80, 443, 8080 and 8443 need --allow-network with the address of ${hostname}, as 127.0.0.0/8:${port}.`
        : 'Try the address in a browser, or save the page and give the file.';
  return { why: `${result.kind}: ${result.detail}`, advice };
}
