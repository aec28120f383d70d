import { existsSync, readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { userAgentOf } from '../../config/index.ts';
import { AppError, EXIT, messageOf } from '../../errors/index.ts';
import {
  type Explanation,
  type Extraction,
  explainPage,
  extractPage,
  parseSelectors,
  type Selectors,
} from '../../extract/index.ts';
import { createHttpClient, type HttpResult, parseHostsFile } from '../../fetch/index.ts';
import { parsePage, refreshTarget } from '../../html/index.ts';
import { nextPageOf, wantsSecondOpinion } from '../../ingest/index.ts';
import { openText } from '../../text/index.ts';
import { type Validation, validatePage } from '../../validate/index.ts';
import { type Context, loadContext } from '../context.ts';
import { cutToWidth, oneLine, printJson } from '../output.ts';

type Flags = { url?: string; selectors?: string; text?: boolean; explain?: boolean; allowNetwork?: string[] };
type Input = { body: Buffer; url: string; status: number; headers: Record<string, string> };

/** `extract`: what the extractor makes of one page, and why. */
export function addExtractCommand(program: Command): void {
  program
    .command('extract <file|url>')
    .description('show what is read from one page: a file, - for standard input, or an address')
    .option('--url <address>', 'address of a page given as a file')
    .option('--selectors <file|json>', 'selectors to try, as a source would have them')
    .addOption(new Option('--text', 'print the text alone').conflicts('explain'))
    .option('--explain', 'tell which evidence won for each field and why blocks were dropped')
    .option('--allow-network <cidr:port...>', 'private networks an address may be in')
    .addHelpText(
      'after',
      `
An address is asked for once, with up to ${MAX_HOPS} redirects: no frontier, no database, no robots.txt.
Selectors are CSS: {"title": "h1", "body": ".story", "author": ".by", "date": "time", "exclude": ".ad"};
also container, section and image. One that matches nothing falls through and says so.`,
    )
    .action(async (target: string, flags: Flags, command: Command) => {
      const context = loadContext(command, { 'fetch.allow_networks': flags.allowNetwork });
      await extract(context, target, flags);
    });
}

const MAX_HOPS = 5;

async function extract(context: Context, target: string, flags: Flags): Promise<void> {
  const selectors = readSelectors(flags.selectors);
  const input = await readInput(context, target, flags);
  const html = openText(input.body, { contentType: input.headers['content-type'], kind: 'html' });
  const page = parsePage(html, { url: input.url });
  const told = { url: input.url, selectors };
  const options = { ...told, allowFallback: wantsSecondOpinion(page, told, input) };
  const explanation = flags.explain ? explainPage(page, options) : null;
  const extraction = explanation?.extraction ?? extractPage(page, options);
  const validation = validatePage({
    page,
    extraction,
    bodyBytes: input.body.length,
    status: input.status,
    headers: input.headers,
  });
  const next = nextPageOf(page, extraction, { url: input.url, page: 1 });
  const to = refreshTarget(page);
  if (context.flags.json) printJson({ validation, next, to, ...(explanation ?? { extraction }) });
  else if (flags.text) process.stdout.write(`${extraction.text}\n`);
  else process.stdout.write(describe({ extraction, validation, next, to }, explanation));
  if (validation.outcome === 'rejected') process.exitCode = EXIT.failed;
}

function readSelectors(given: string | undefined): Selectors {
  if (given === undefined) return {};
  const parsed = parseSelectors(given.trimStart().startsWith('{') ? given : readText(given));
  if (parsed.outcome === 'ok') return parsed.selectors;
  throw new AppError('usage', `the selectors cannot be read: ${parsed.message}`, {
    exitCode: EXIT.usage,
    advice: 'Give JSON such as {"title": "h1", "body": ".story"}, or a file with it.',
  });
}

function readText(file: string): string {
  return readBytes(file).toString('utf8');
}

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new AppError('usage', `"${file}" cannot be read: ${messageOf(error)}`, {
      exitCode: EXIT.usage,
      cause: error,
      advice: 'Give a file, - for standard input, or an address that begins with https://',
    });
  }
}

async function readInput(context: Context, target: string, flags: Flags): Promise<Input> {
  const local = (body: Buffer): Input => ({
    body,
    url: flags.url ?? 'http://localhost/',
    status: 200,
    headers: {},
  });
  if (target === '-') {
    const pieces: Buffer[] = [];
    for await (const piece of process.stdin) pieces.push(piece as Buffer);
    return local(Buffer.concat(pieces));
  }
  if (!/^https?:\/\//i.test(target) || existsSync(target)) return local(readBytes(target));
  return fetchPage(context, target);
}

async function fetchPage({ loaded: { config }, version }: Context, address: string): Promise<Input> {
  const client = createHttpClient({
    userAgent: userAgentOf(config, version),
    allowNetworks: config.fetch.allowNetworks,
    ...(config.fetch.hostsFile === null ? {} : { hosts: parseHostsFile(readText(config.fetch.hostsFile)) }),
    timeoutMs: config.fetch.timeoutMs,
    headersTimeoutMs: config.fetch.headersTimeoutMs,
    maxBodyBytes: config.fetch.maxBodyBytes,
  });
  try {
    let url = address;
    for (let hop = 0; hop <= MAX_HOPS; hop++) {
      const result = await client.request({ url });
      if (result.outcome === 'redirect') url = result.location;
      else if (result.outcome === 'response')
        return { body: result.body, url, status: result.status, headers: result.headers };
      else throw unusable(url, result);
    }
    throw new AppError('fetch_failed', `${address} leads on more than ${MAX_HOPS} times`);
  } finally {
    await client.close();
  }
}

function unusable(url: string, result: Exclude<HttpResult, { outcome: 'response' }>): AppError {
  const why = result.outcome === 'failed' ? `${result.kind}: ${result.detail}` : result.outcome;
  const refused = result.outcome === 'failed' && result.kind === 'refused_address';
  return new AppError('fetch_failed', `${url} could not be fetched (${why})`, {
    retry: result.outcome === 'failed',
    advice: refused
      ? 'Private addresses need --allow-network, as 127.0.0.0/8:8080.'
      : 'Try the address in a browser, or save the page and give the file.',
  });
}

const TEXT_WIDTH = 100;

/** The answer for a person. */
function describe(
  {
    extraction,
    validation,
    next,
    to,
  }: { extraction: Extraction; validation: Validation; next: string | null; to: string | null },
  told: Explanation | null,
): string {
  const day = (date: Date | null) => date?.toISOString() ?? '–';
  const fields: [string, string][] = [
    [
      'verdict',
      validation.outcome === 'valid' ? 'valid' : `rejected: ${validation.reason} (${validation.detail})`,
    ],
    ['title', extraction.title ?? '–'],
    ['authors', extraction.authors.join(', ') || '–'],
    ['published', day(extraction.publishedAt)],
    ['modified', day(extraction.modifiedAt)],
    ['section', extraction.section ?? '–'],
    ['keywords', extraction.keywords.slice(0, 12).join(' · ') || '–'],
    ['image', extraction.leadImage ?? '–'],
    [
      'language',
      extraction.language === null ? '–' : `${extraction.language} (${extraction.evidence.language})`,
    ],
    ['page type', `${extraction.pageType} (${extraction.evidence.pageType})`],
    ['words', String(extraction.wordCount)],
    ['confidence', extraction.confidence.toFixed(2)],
    ['text by', extraction.evidence.text ?? '–'],
    ...(to === null ? [] : ([['leads to', to]] as [string, string][])),
    ...(next === null ? [] : ([['goes on at', next]] as [string, string][])),
  ];
  const lines = fields.map(([name, value]) => `${name.padEnd(12)}${oneLine(value)}`);
  for (const [name, did] of Object.entries(extraction.evidence))
    if (name.startsWith('selector.')) lines.push(`${name.padEnd(20)}${oneLine(did)}`);
  if (told === null) return `${lines.join('\n')}\n\n${extraction.text}\n`;
  return `${[...lines, ...explained(told)].join('\n')}\n`;
}

function explained({ candidates, blocks, bar }: Explanation): string[] {
  const lines: string[] = [];
  for (const [field, list] of Object.entries(candidates)) {
    lines.push('', `${field}:`);
    if (list.length === 0) lines.push('  nothing was offered');
    for (const [i, { value, from }] of list.entries())
      lines.push(`  ${i === 0 ? 'won ' : 'lost'} ${oneLine(value)}  (${oneLine(from)})`);
  }
  lines.push('', `blocks (kept above ${bar.toFixed(2)}, runs count):`);
  for (const { kept, chance, text, why } of blocks) {
    const shown = cutToWidth(oneLine(text), TEXT_WIDTH);
    lines.push(
      `  ${kept ? '+' : '-'} ${chance.toFixed(2)} ${shown}${why.length === 0 ? '' : `\n         ${why.join(', ')}`}`,
    );
  }
  return lines;
}
