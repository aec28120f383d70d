import { type Command, Option } from 'commander';
import type { Queryable } from '../../db/index.ts';
import {
  type DocumentFilter,
  type DocumentHit,
  type DocumentRecord,
  type DocumentVersion,
  documentRecord,
  listRecentDocuments,
  loadCluster,
  loadDocument,
  loadSightings,
  loadVersions,
  resolveFilter,
  type Sighting,
  searchDocuments,
} from '../../documents/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import { identifyUrl, parseUrlId, urlId } from '../../url/index.ts';
import { loadContext, withDatabase } from '../context.ts';
import { dateFlag } from '../dates.ts';
import { wholeNumber } from '../numbers.ts';
import { printJson, printTable, relativeTime } from '../output.ts';

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
      const { hits, ranked } = await withDatabase(context, async ({ pool }) =>
        searchDocuments(pool, words.join(' '), { ...(await filterOf(pool, flags)), limit }),
      );
      if (context.flags.json) return printJson(hits.map(shown));
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
      const hits = await withDatabase(context, async ({ pool }) =>
        listRecentDocuments(pool, limit, await filterOf(pool, flags)),
      );
      if (context.flags.json) return printJson(hits.map(shown));
      const isNarrowed = Object.keys(flags).some((name) => name !== 'limit');
      if (hits.length === 0)
        return void process.stdout.write(isNarrowed ? 'No documents found.\n' : 'No documents yet.\n');
      printHits(hits);
    });
  docs
    .command('show <url|id>')
    .description('one document: what it says, its versions, and who told us of it')
    .action(async (which: string, _flags: object, command: Command) => {
      const id = idOf(which);
      const context = loadContext(command);
      const found = await withDatabase(context, async ({ pool }) => {
        const document = await loadDocument(pool, id);
        return document === null
          ? null
          : {
              ...documentRecord(document),
              versions: await loadVersions(pool, document),
              sightings: await loadSightings(pool, document),
            };
      });
      if (found === null)
        throw new AppError('document_unknown', `there is no document of ${which}`, {
          advice: `What became of the address says: outrider explain ${which}`,
        });
      if (context.flags.json) return printJson(found);
      printDocument(found);
    });
  docs
    .command('copies <url>')
    .description('where else an article stands, in nearly the same words')
    .action(async (url: string, _flags: object, command: Command) => {
      const id = idOf(url);
      const context = loadContext(command);
      const cluster = await withDatabase(context, ({ pool }) => loadCluster(pool, id));
      if (context.flags.json) return printJson(cluster);
      if (cluster === null) return void process.stdout.write('No copies of it are known.\n');
      printTable(cluster.members, [
        { title: 'TITLE', value: (row) => row.title ?? '(no title)', flexible: true },
        { title: 'FIRST', value: (row) => (row.first ? 'yes' : '') },
        { title: 'PUBLISHED', value: (row) => relativeTime(row.publishedAt) },
        { title: 'URL', value: (row) => row.url, flexible: true },
      ]);
    });
}

/** The id of a document that is named by its address or by its id. */
function idOf(which: string): string {
  if (parseUrlId(which) !== null) return which;
  const identified = identifyUrl(which);
  if (identified.outcome === 'rejected')
    throw new AppError('usage', `"${which}" is no address of a document`, { exitCode: EXIT.usage });
  return urlId(identified.identity.domainKey, identified.identity.hash);
}

type Shown = DocumentRecord & { versions: DocumentVersion[]; sightings: Sighting[] };

function printDocument(found: Shown): void {
  const facts: [string, string | null][] = [
    ['Address', found.url],
    ['Source', found.source],
    ['Authors', found.authors.join(', ') || null],
    ['Published', found.published_at?.toISOString() ?? null],
    ['Crawled', relativeTime(found.crawled_at)],
    ['Language', found.language],
    ['Words', String(found.word_count)],
    ['Verdict', found.classification_status],
    ['Versions', found.versions.map((one) => `${one.version} (${relativeTime(one.crawledAt)})`).join(', ')],
    ['Told by', found.sightings.map((one) => one.parentUrl ?? one.origin).join('\n           ')],
  ];
  const lines = facts.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(10)} ${value}`]));
  process.stdout.write(`${found.title ?? '(no title)'}\n\n${lines.join('\n')}\n\n${found.text}\n`);
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

function filterOf(db: Queryable, flags: ListFlags): Promise<DocumentFilter> {
  const { limit: _limit, since, until, ...named } = flags;
  if (named.language !== undefined && !/^[a-z]{2}$/.test(named.language))
    throw new AppError('usage', `--language takes two letters such as en, not "${named.language}"`, {
      exitCode: EXIT.usage,
    });
  return resolveFilter(db, {
    ...named,
    ...(since === undefined ? {} : { since: dateFlag('--since', since) }),
    ...(until === undefined ? {} : { until: dateFlag('--until', until) }),
  });
}

const mostHits = 1000;
const shown = ({ domainKey, hash, ...rest }: DocumentHit) => ({ id: urlId(domainKey, hash), ...rest });

function printHits(hits: readonly DocumentHit[]): void {
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

const copiesOf = ({ copies }: DocumentHit): string =>
  copies === 0 ? '' : copies >= 999 ? 'and 999+' : `and ${copies}`;
