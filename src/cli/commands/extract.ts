import { type Command, Option } from 'commander';
import { AppError, EXIT } from '../../errors/index.ts';
import {
  explainPage,
  extractPage,
  parseSelectors,
  type Selectors,
  writtenDates,
} from '../../extract/index.ts';
import { parsePage, refreshTarget } from '../../html/index.ts';
import { nextPageOf, wantsSecondOpinion } from '../../ingest/index.ts';
import { openText } from '../../text/index.ts';
import { validatePage } from '../../validate/index.ts';
import { type Context, loadContext } from '../context.ts';
import { describePage } from '../extract/describe.ts';
import { type Input, MAX_HOPS, readFileOf, readInput, refusedAnswer } from '../extract/read-input.ts';
import { printJson } from '../output.ts';

type Flags = { url?: string; selectors?: string; text?: boolean; explain?: boolean; allowNetwork?: string[] };

/** `extract`: what the extractor makes of one page, and why. */
export function addExtractCommand(program: Command): void {
  program
    .command('extract <file|url>')
    .description('show what is read from one page: a file, - for standard input, or an address')
    .option('--url <address>', 'address of a page given as a file; the one it declares unless said')
    .option('--selectors <file|json>', 'selectors to try, as a source would have them')
    .addOption(new Option('--text', 'print the text alone').conflicts('explain'))
    .option('--explain', 'tell which evidence won for each field and why blocks were dropped')
    .option('--allow-network <cidr:port...>', 'private networks an address may be in')
    .addHelpText(
      'after',
      `
An address is asked for once, with up to ${MAX_HOPS} redirects: no frontier, no database, no robots.txt.
Selectors are CSS: {"title": "h1", "body": ".story", "author": ".by", "date": "time", "exclude": ".ad"};
also container, section and image. One that matches nothing falls through and says so.
The exit code is 1 for what a crawl would not keep, with the reason as the verdict.`,
    )
    .action(async (target: string, flags: Flags, command: Command) => {
      const context = loadContext(command, { 'fetch.allow_networks': flags.allowNetwork });
      await extract(context, target, flags);
    });
}

async function extract(context: Context, target: string, flags: Flags): Promise<void> {
  if (flags.text && context.flags.json)
    throw new AppError('usage', '--text and --json exclude each other', {
      exitCode: EXIT.usage,
      advice: 'The text stands in the JSON as extraction.text.',
    });
  const selectors = readSelectors(flags.selectors);
  const input = await readInput(context, target, flags.url);
  const html = openText(input.body, { contentType: input.headers['content-type'], kind: 'html' });
  const address = addressOf(input, html);
  const { url } = address;
  const page = parsePage(html, { url });
  const { status, headers } = input;
  const answered = { body: input.body, status, headers };
  const { minBodyBytes } = context.loaded.config.documents;
  const allowFallback = wantsSecondOpinion(page, { url, selectors }, answered, minBodyBytes);
  const options = { url, selectors, allowFallback };
  const explanation = flags.explain ? explainPage(page, options) : null;
  const extraction = explanation?.extraction ?? extractPage(page, options);
  const bodyBytes = input.body.length;
  const validation = validatePage({ page, extraction, bodyBytes, status, headers, minBodyBytes });
  const refused = refusedAnswer(input);
  const verdict = refused === null ? validation : { outcome: 'rejected' as const, ...refused };
  const next = nextPageOf(page, extraction, { url, page: 1 });
  const to = refreshTarget(page, headers.refresh);
  const answer = input.isAnswer ? `${status} ${headers['content-type'] ?? 'without a type'}` : null;
  if (context.flags.json)
    printJson({
      validation: verdict,
      url,
      status,
      next,
      to,
      ...explanation,
      extraction: { ...extraction, ...writtenDates(extraction) },
    });
  else if (flags.text) process.stdout.write(`${extraction.text}\n`);
  else process.stdout.write(describePage({ verdict, extraction, explanation, address, answer, next, to }));
  if (verdict.outcome === 'rejected') process.exitCode = EXIT.failed;
}

// A page of which nobody says where it is from; no front page, which would be taken for a list.
const NOWHERE = 'http://localhost/page';

/** Where a page is from: titles, kinds of pages and relative links depend on it. */
function addressOf(input: Input, html: Parameters<typeof parsePage>[0]): { url: string; from: string } {
  if (input.url !== null) return { url: input.url, from: input.isAnswer ? 'asked' : '--url' };
  const declared = extractPage(parsePage(html, { url: NOWHERE })).canonicalUrl;
  return declared === null || new URL(declared).hostname === 'localhost'
    ? { url: NOWHERE, from: 'unknown; give --url' }
    : { url: declared, from: 'declared by the page' };
}

function readSelectors(given: string | undefined): Selectors {
  if (given === undefined) return {};
  const isJson = /^\s*[{[]/.test(given);
  const advice = 'Give JSON such as {"title": "h1", "body": ".story"}, or a file with it.';
  const parsed = parseSelectors(isJson ? given : readFileOf(given, advice).toString('utf8'));
  if (parsed.outcome === 'ok') return parsed.selectors;
  throw new AppError('usage', `the selectors cannot be read: ${parsed.message}`, {
    exitCode: EXIT.usage,
    advice,
  });
}
