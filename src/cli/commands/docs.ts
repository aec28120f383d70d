import { type Command, Option } from 'commander';
import type {
  ClusterMember,
  DocumentHit,
  DocumentRecord,
  DocumentVersion,
  Sighting,
} from '../../documents/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import { identifyUrl, parseUrlId, urlId } from '../../url/index.ts';
import { type Api, type Json, pathOf, type Query, withApi } from '../api.ts';
import { loadContext } from '../context.ts';
import { dateFlag } from '../dates.ts';
import { wholeNumber } from '../numbers.ts';
import { oneLine, printJson, printTable, relativeTime, textWidth, wrapText } from '../output.ts';
import { paint } from '../style.ts';

/** `docs search`, `docs list`, `docs copies`. */
export function addDocsCommands(program: Command): void {
  const docs = program.command('docs').description('search and list documents');
  docs
    .command('search <words...>')
    .description('full-text search: words, "a phrase", or, -not')
    .option('--limit <n>', 'most hits to show', '20')
    .addOption(sourceFlag())
    .addOption(domainFlag())
    .addOption(languageFlag())
    .addOption(sinceFlag())
    .addOption(untilFlag())
    .action(async (words: string[], flags: ListFlags, command: Command) => {
      const limit = wholeNumber('--limit', flags.limit, { least: 1, most: mostHits });
      const context = loadContext(command);
      const query = { q: words.join(' '), ...queryOf(flags), limit };
      const { items: hits, ranked } = await withApi(context, (api) =>
        api.get<{ items: Hit[]; ranked: number }>('/api/v1/documents', query),
      );
      if (context.flags.json) return printJson(hits);
      if (hits.length === 0) return void process.stdout.write('Nothing found.\n');
      printHits(hits);
      if (ranked > hits.length)
        process.stdout.write(`Best ${hits.length} of the newest ${ranked} matches.\n`);
    });
  docs
    .command('list')
    .description('newest documents')
    .option('--limit <n>', 'how many', '20')
    .addOption(sourceFlag())
    .addOption(domainFlag())
    .addOption(languageFlag())
    .addOption(sinceFlag())
    .addOption(untilFlag())
    .action(async (flags: ListFlags, command: Command) => {
      const limit = wholeNumber('--limit', flags.limit, { least: 1, most: mostHits });
      const context = loadContext(command);
      const query = { ...queryOf(flags), limit };
      const { items: hits } = await withApi(context, (api) =>
        api.get<{ items: Hit[] }>('/api/v1/documents', query),
      );
      if (context.flags.json) return printJson(hits);
      const isNarrowed = Object.keys(flags).some((name) => name !== 'limit');
      if (hits.length === 0)
        return void process.stdout.write(isNarrowed ? 'No documents found.\n' : 'No documents yet.\n');
      printHits(hits);
    });
  docs
    .command('show <url|id>')
    .description('one document: what it says, its versions, and who told us of it')
    .action(async (which: string, _flags: object, command: Command) => {
      const context = loadContext(command);
      const found = await withApi(context, (api) => loadShown(api, which));
      if (context.flags.json) return printJson(found);
      printDocument(found);
    });
  docs
    .command('copies <url>')
    .description('where else an article stands, in nearly the same words')
    .action(async (url: string, _flags: object, command: Command) => {
      const context = loadContext(command);
      const { copies } = await withApi(context, (api) => loadShown(api, url));
      if (context.flags.json) return printJson(copies);
      if (copies.length === 0) return void process.stdout.write('No copies of it are known.\n');
      printTable(copies, [
        { title: 'TITLE', value: (row) => row.title ?? '(no title)', flexible: true },
        { title: 'FIRST', value: (row) => (row.first ? 'yes' : '') },
        { title: 'PUBLISHED', value: (row) => relativeTime(row.publishedAt) },
        { title: 'URL', value: (row) => row.url, flexible: true },
      ]);
    });
}

/** The id of a document that is named by its address or by its id. */
async function idOf(api: Api, which: string): Promise<string> {
  if (parseUrlId(which) !== null) return which;
  const identified = identifyUrl(which);
  if (identified.outcome === 'rejected')
    throw new AppError('usage', `"${which}" is no address of a document`, { exitCode: EXIT.usage });
  // Its domain may have rules of its own, which only the server knows.
  const { items } = await api.get<{ items: { id: string }[] }>('/api/v1/frontier', {
    url: which,
    kind: 'article,listing',
    limit: 1,
  });
  return items[0]?.id ?? urlId(identified.identity.domainKey, identified.identity.hash);
}

type Hit = Json<Omit<DocumentHit, 'domainKey' | 'hash'>> & { id: string };
type Shown = Json<
  DocumentRecord & { copies: ClusterMember[]; versions: DocumentVersion[]; sightings: Sighting[] }
>;

async function loadShown(api: Api, which: string): Promise<Shown> {
  const id = await idOf(api, which);
  try {
    return await api.get<Shown>(pathOf`/api/v1/documents/${id}`);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'document_unknown') throw error;
    // The API knows the id only; a person gave an address, and may want to know what became of it.
    throw new AppError('document_unknown', `there is no document of ${which}`, {
      exitCode: EXIT.usage,
      advice: `What became of the address says: outrider explain ${which}`,
    });
  }
}

const labelWidth = 11;

function printDocument(found: Shown): void {
  const width = textWidth();
  const facts: [string, string | null][] = [
    ['Address', found.url],
    ['Source', found.source],
    ['Authors', found.authors.join(', ') || null],
    ['Published', found.published_at === null ? null : dateText(found.published_at)],
    ['Crawled', dateText(found.crawled_at)],
    ['Language', found.language],
    ['Words', String(found.word_count)],
    ['Verdict', found.classification_status],
    ['Versions', found.versions.map((one) => `${one.version} (${relativeTime(one.crawledAt)})`).join(', ')],
    [
      'Copies',
      found.copies.length < 2 ? null : `${found.copies.length - 1} elsewhere; "docs copies" lists them`,
    ],
    ['Told by', [...new Set(found.sightings.map((one) => one.parentUrl ?? one.origin))].join('\n') || null],
  ];
  const lines = facts.flatMap(([name, value]) => {
    if (value === null) return [];
    const [first = '', ...more] = wrapText(value, width - labelWidth);
    return [name.padEnd(labelWidth) + first, ...more.map((line) => ' '.repeat(labelWidth) + line)];
  });
  const title = wrapText(oneLine(found.title ?? '(no title)'), width).map((line) => paint('bold', line));
  process.stdout.write(`${[...title, '', ...lines, '', ...wrapText(found.text, width)].join('\n')}\n`);
}

function dateText(iso: string): string {
  // A date of a page may be by its own clock.
  const [offset] = /[+-]\d\d:\d\d$/.exec(iso) ?? ['UTC'];
  return `${iso.slice(0, 16).replace('T', ' ')} ${offset}, ${relativeTime(iso)}`;
}

type ListFlags = {
  limit: string;
  source?: string;
  domain?: string;
  language?: string;
  since?: string;
  until?: string;
};

const sourceFlag = () => new Option('--source <slug>', 'only those of a source');
const domainFlag = () => new Option('--domain <name>', 'only those of a domain');
const languageFlag = () => new Option('--language <code>', 'only those in a language, such as en');
const sinceFlag = () => new Option('--since <date>', 'only those dated since: 2026-05-01, 6h, 7d');
const untilFlag = () => new Option('--until <date>', 'only those dated before');

function queryOf(flags: ListFlags): Query {
  const { limit: _limit, since, until, ...named } = flags;
  if (named.language !== undefined && !/^[a-z]{2,3}$/.test(named.language))
    throw new AppError('usage', `--language takes a code such as en, not "${named.language}"`, {
      exitCode: EXIT.usage,
    });
  return {
    ...named,
    ...(since === undefined ? {} : { since: dateFlag('--since', since).toISOString() }),
    ...(until === undefined ? {} : { until: dateFlag('--until', until).toISOString() }),
  };
}

const mostHits = 1000;

function printHits(hits: readonly Hit[]): void {
  printTable(hits, [
    { title: 'TITLE', value: (row) => row.title ?? '(no title)', flexible: true },
    { title: 'LANG', value: (row) => row.language ?? '–' },
    { title: 'WORDS', value: (row) => String(row.wordCount), align: 'right' },
    // Most lists have none: the column would only take the titles' room.
    ...(hits.some((row) => row.copies > 0)
      ? [{ title: 'COPIES', value: copiesOf, align: 'right' as const }]
      : []),
    { title: 'PUBLISHED', value: (row) => relativeTime(row.publishedAt) },
    { title: 'URL', value: (row) => row.url, flexible: true },
  ]);
}

const copiesOf = ({ copies }: Hit): string =>
  copies === 0 ? '' : copies >= 999 ? 'and 999+' : `and ${copies}`;
