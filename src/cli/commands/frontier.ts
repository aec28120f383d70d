import { type Command, Option } from 'commander';
import { AppError, EXIT } from '../../errors/index.ts';
import { explain, parseSubject } from '../../explain/index.ts';
import {
  listUrls,
  submitByHand,
  type UrlFilter,
  type UrlKind,
  type UrlStatus,
  urlKinds,
  urlStatuses,
} from '../../frontier/index.ts';
import { canonicalDomain, domainIdentity, urlId } from '../../url/index.ts';
import { type Context, loadContext, withDatabase } from '../context.ts';
import { oneLine, printJson, printTable, relativeTime, textWidth, wrapText } from '../output.ts';
import { paint } from '../style.ts';

/** `submit`, `urls`, `explain`. */
export function addFrontierCommands(program: Command): void {
  program
    .command('submit <url...>')
    .description('put URLs into the frontier')
    .addOption(
      new Option('--kind <kind>', 'what they are').choices(['article', 'listing']).default('article'),
    )
    .option('--priority <n>', '1 to 10', '5')
    .action(
      async (urls: string[], flags: { kind: 'article' | 'listing'; priority: string }, command: Command) =>
        submitUrls(loadContext(command), urls, flags),
    );
  program
    .command('urls')
    .description('list URLs of the frontier')
    .option('--domain <name>', 'of this domain only')
    .addOption(new Option('--status <words>', `comma-separated: ${urlStatuses.join(', ')}`))
    .addOption(
      new Option('--kind <word>', 'article, listing, channel, image or probe').choices([...urlKinds]),
    )
    .option('--reason <code>', 'error code, as robots_blocked')
    .option('--limit <n>', 'how many', '50')
    .action(async (flags: UrlFlags, command: Command) => listRows(loadContext(command), flags));
  program
    .command('explain <url|domain|channel>')
    .description(
      'say where a URL, a domain or a channel (by its number) stands, why it has not been fetched yet, and when it is expected',
    )
    .action(async (subject: string, _flags: object, command: Command) =>
      sayWhy(loadContext(command), subject),
    );
}

async function submitUrls(
  context: Context,
  urls: readonly string[],
  flags: { kind: 'article' | 'listing'; priority: string },
): Promise<void> {
  const priority = Number(flags.priority);
  if (!Number.isInteger(priority) || priority < 1 || priority > 10) {
    throw new AppError('usage', `--priority takes a number from 1 to 10, not "${flags.priority}"`, {
      exitCode: EXIT.usage,
    });
  }
  const answers = await withDatabase(context, ({ pool }) =>
    submitByHand(
      pool,
      urls.map((url) => ({ url, kind: flags.kind, priority })),
    ),
  );
  if (context.flags.json) printJson(answers);
  else {
    printTable(answers, [
      { title: 'ANSWER', value: (row) => row.answer },
      { title: 'URL', value: (row) => row.url, flexible: true },
    ]);
  }
  if (answers.some(({ answer }) => answer.startsWith('rejected'))) process.exitCode = EXIT.usage;
}

type UrlFlags = { domain?: string; status?: string; kind?: UrlKind; reason?: string; limit: string };

async function listRows(context: Context, flags: UrlFlags): Promise<void> {
  const limit = Math.max(1, Math.min(10_000, Number.parseInt(flags.limit, 10) || 50));
  const filter = filterOf(flags);
  const rows = await withDatabase(context, async ({ pool }) => {
    let page = await listUrls(pool, filter, { limit });
    const found = page.rows;
    while (page.cursor !== null && found.length < limit) {
      page = await listUrls(pool, filter, { limit: limit - found.length, cursor: page.cursor });
      found.push(...page.rows);
    }
    return found;
  });
  if (context.flags.json)
    return printJson(
      rows.map(({ bucket: _bucket, domainKey, hash, ...row }) => ({ id: urlId(domainKey, hash), ...row })),
    );
  if (rows.length === 0) return void process.stdout.write('No URL matches.\n');
  printTable(rows, [
    {
      title: 'STATUS',
      value: (row) => (row.errorCode === null ? row.status : `${row.status}: ${row.errorCode}`),
    },
    { title: 'KIND', value: (row) => row.kind },
    { title: 'LEVEL', value: (row) => String(row.level), align: 'right' },
    { title: 'DUE', value: (row) => (row.dueAt === null ? '–' : relativeTime(row.dueAt)) },
    { title: 'FETCHED', value: (row) => relativeTime(row.lastFetchedAt) },
    { title: 'URL', value: (row) => row.url, flexible: true },
  ]);
}

function filterOf(flags: UrlFlags): UrlFilter {
  const filter: UrlFilter = {};
  if (flags.domain !== undefined) {
    const name = canonicalDomain(flags.domain);
    if (name === null)
      throw new AppError('usage', `"${flags.domain}" is not a domain`, { exitCode: EXIT.usage });
    filter.domain = domainIdentity(name);
  }
  if (flags.status !== undefined) {
    const words = flags.status.split(',').map((word) => word.trim());
    const wrong = words.find((word) => !(urlStatuses as readonly string[]).includes(word));
    if (wrong !== undefined)
      throw new AppError('usage', `"${wrong}" is not a status`, {
        exitCode: EXIT.usage,
        advice: `Known: ${urlStatuses.join(', ')}.`,
      });
    filter.statuses = words as UrlStatus[];
  }
  if (flags.kind !== undefined) filter.kinds = [flags.kind];
  if (flags.reason !== undefined) filter.errorCode = flags.reason;
  return filter;
}

async function sayWhy(context: Context, text: string): Promise<void> {
  const { fetch, domains } = context.loaded.config;
  const subject = parseSubject(text);
  const answers = await withDatabase(context, ({ pool }) =>
    explain(pool, subject, {
      defaultDelayMs: fetch.defaultDelayMs,
      productToken: fetch.productToken,
      defaultBudget: domains.maxPagesPerRun,
    }),
  );
  if (context.flags.json) {
    const shown = answers.map(({ subject: _subject, name: _name, advice, ...answer }) => ({
      ...answer,
      ...('url' in subject ? {} : { advice }),
    }));
    // An address may have two rows, everything else is one.
    return printJson('url' in subject ? shown : shown[0]);
  }
  for (const { name, state, sentences, advice } of answers) {
    sayExplained(name, { state, sentences });
    for (const command of advice) process.stdout.write(`  ${command}\n`);
  }
}

function sayExplained(name: string, told: { state: string; sentences: readonly string[] }): void {
  const lines = wrapText(`${told.state}. ${told.sentences.join(' ')}`, textWidth());
  process.stdout.write(`${paint('bold', oneLine(name))}\n${lines.join('\n')}\n`);
}
