import { type Command, Option } from 'commander';
import { EXIT } from '../../errors/index.ts';
import { type Answer, isHeld, parseSubject } from '../../explain/index.ts';
import {
  howToGiveBrowser,
  type UrlRow,
  urlKinds,
  urlStatuses,
  type WishAnswer,
} from '../../frontier/index.ts';
import { type Api, type Json, listItems, patiently, withApi } from '../api.ts';
import { type Context, loadContext } from '../context.ts';
import { wholeNumber } from '../numbers.ts';
import { oneLine, printJson, printTable, relativeTime, textWidth, wrapText } from '../output.ts';
import { paint } from '../style.ts';
import { type UrlFlags, urlQueryOf } from '../url-query.ts';
import { addUrlActions } from './url-actions.ts';

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
  const urls = program
    .command('urls')
    .description('list URLs of the frontier, fetch them again, remove them or change their priority');
  urls
    .command('list', { isDefault: true })
    .description('URLs of the frontier and how they stand')
    .option('--domain <name>', 'of this domain only')
    .addOption(new Option('--status <words>', `comma-separated: ${urlStatuses.join(', ')}`))
    .addOption(
      new Option('--kind <word>', 'article, listing, channel, image or probe').choices([...urlKinds]),
    )
    .option('--reason <code>', 'error code, as robots_blocked')
    .option('--limit <n>', 'how many', '50')
    .action(async (flags: ListFlags, command: Command) => listRows(loadContext(command), flags));
  addUrlActions(urls);
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
  const priority = wholeNumber('--priority', flags.priority, { least: 1, most: 10 });
  const answers = await withApi(context, async (api) => {
    const all: Json<WishAnswer>[] = [];
    for (let start = 0; start < urls.length; start += submittedAtOnce) {
      const wishes = urls.slice(start, start + submittedAtOnce);
      const { items } = await api.post<{ items: Json<WishAnswer>[] }>(
        '/api/v1/frontier/submit/bulk',
        { urls: wishes.map((url) => ({ url, kind: flags.kind, priority })) },
        patiently,
      );
      all.push(...items);
    }
    return all;
  });
  if (context.flags.json) printJson(answers);
  else {
    printTable(answers, [
      { title: 'ANSWER', value: (row) => row.answer },
      { title: 'URL', value: (row) => row.url, flexible: true },
    ]);
  }
  if (answers.some(({ answer }) => answer.startsWith('rejected'))) process.exitCode = EXIT.usage;
}

const submittedAtOnce = 10_000;

type ListFlags = UrlFlags & { limit: string };

async function listRows(context: Context, flags: ListFlags): Promise<void> {
  const limit = wholeNumber('--limit', flags.limit, { least: 1, most: 10_000 });
  // Unless it is told, the API leaves polls and probes out; whoever looks here wants to see all there is.
  const query = { kind: urlKinds.join(','), ...urlQueryOf(flags) };
  const { rows, isMore, hasBrowser } = await withApi(context, async (api) => {
    const { items, isMore } = await listItems<ShownUrl>(api, '/api/v1/frontier', query, limit);
    const isAsked = !context.flags.json && items.some(({ status }) => status === 'needs_render');
    return { rows: items, isMore, hasBrowser: !isAsked || (await someoneRenders(api)) };
  });
  if (context.flags.json) return printJson(rows);
  if (rows.length === 0) return void process.stdout.write('No URL matches.\n');
  printTable(rows, [
    {
      title: 'STATUS',
      value: (row) => (row.errorCode === null ? row.status : `${row.status}: ${row.errorCode}`),
    },
    { title: 'KIND', value: (row) => row.kind },
    { title: 'LEVEL', value: (row) => String(row.level), align: 'right' },
    { title: 'DUE', value: (row) => dueText(row.dueAt) },
    { title: 'FETCHED', value: (row) => relativeTime(row.lastFetchedAt) },
    { title: 'URL', value: (row) => row.url, flexible: true },
  ]);
  if (isMore) process.stdout.write(`The first ${limit}; --limit shows more.\n`);
  if (!hasBrowser)
    process.stdout.write(`\nRows that need rendering wait: no fetcher has a browser. ${howToGiveBrowser}\n`);
}

function dueText(dueAt: string | null): string {
  if (dueAt === null) return '–';
  return isHeld(new Date(dueAt), new Date()) ? 'held' : relativeTime(dueAt);
}

async function someoneRenders(api: Api): Promise<boolean> {
  const { items } = await api.get<{ items: { isAlive: boolean; renders: boolean }[] }>('/api/v1/workers');
  return items.some(({ isAlive, renders }) => isAlive && renders);
}

type ShownUrl = Json<Omit<UrlRow, 'bucket' | 'domainKey' | 'hash'>> & { id: string };

async function sayWhy(context: Context, text: string): Promise<void> {
  const subject = parseSubject(text);
  const { items: answers } = await withApi(context, (api) =>
    api.get<{ items: (Json<Answer> & { text: string })[] }>('/api/v1/explain', subject),
  );
  if (context.flags.json) {
    const shown = answers.map(({ subject: _subject, name: _name, text: _text, advice, ...answer }) => ({
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
