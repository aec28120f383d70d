import { type Command, Option } from 'commander';
import {
  type DomainRow,
  type DomainSort,
  type DomainStatus,
  domainSorts,
  domainStatuses,
  unknownDomain,
} from '../../domains/index.ts';
import { AppError } from '../../errors/index.ts';
import { type Api, type Json, listItems, pathOf, withApi } from '../api.ts';
import { loadContext } from '../context.ts';
import { type DomainCard, renderDomainCard } from '../domain-card.ts';
import { restLine } from '../domain-words.ts';
import { wholeNumber } from '../numbers.ts';
import {
  type Column,
  cutToWidth,
  oneLine,
  printJson,
  relativeTime,
  renderTable,
  terminalWidth,
} from '../output.ts';
import { addDomainActions } from './domain-actions.ts';
import { addDomainUpkeep } from './domain-upkeep.ts';

/** `domain …`: what domains do, and what operators do with them. */
export function addDomainCommands(program: Command): void {
  const domain = program
    .command('domain')
    .description('see, block, reset, configure, seed and mend domains')
    .addHelpText(
      'after',
      `
A domain is pending (never crawled), active (work remains), exhausted (nothing waits), blocked (it refuses us) or
unreachable (it cannot be connected to). The last two rest and are tried again by themselves; a third block, or one by
an operator, lasts until "outrider domain reset". More: docs/guides/domains.md`,
    );
  domain
    .command('status')
    .description('list domains with their pages, documents and, for those that rest, the reason')
    .addOption(new Option('--status <word>', 'of this status only').choices([...domainStatuses]))
    .addOption(new Option('--sort <order>', 'order').choices([...domainSorts]).default('recent'))
    .option('--limit <n>', 'how many', '50')
    .action(async (flags: { status?: DomainStatus; sort: DomainSort; limit: string }, command: Command) => {
      const limit = wholeNumber('--limit', flags.limit, { least: 1, most: mostRows });
      const context = loadContext(command);
      const query = { status: flags.status, sort: flags.sort };
      const { items: rows, isMore } = await withApi(context, (api) =>
        listItems<ShownDomain>(api, '/api/v1/domains', query, limit),
      );
      if (context.flags.json) return printJson(rows);
      printDomains(rows);
      if (isMore) process.stdout.write(`The first ${limit}; --limit shows more.\n`);
    });
  domain
    .command('top')
    .description('domains that give most documents per page')
    .option('--limit <n>', 'how many', '20')
    .option('--pages <n>', 'only domains with at least so many pages crawled', '5')
    .action(async (flags: { limit: string; pages: string }, command: Command) => {
      const limit = wholeNumber('--limit', flags.limit, { least: 1, most: mostTop });
      const pages = wholeNumber('--pages', flags.pages, { least: 1, most: 1_000_000_000 });
      const context = loadContext(command);
      const { items: rows } = await withApi(context, (api) =>
        api.get<{ items: ShownDomain[] }>('/api/v1/domains/top', { limit, pages }),
      );
      if (context.flags.json) return printJson(rows);
      printDomains(rows);
    });
  domain
    .command('info <domain>')
    .description('everything about one domain: state, queue, budget, delay, score, events, runs, robots.txt')
    .action(async (name: string, _flags: object, command: Command) => {
      const context = loadContext(command);
      const card = await withApi(context, (api) => loadCard(api, name));
      const { explanation, events, runs, robots, ...domain } = card;
      if (context.flags.json) return printJson({ ...explanation, facts: { domain, events, runs, robots } });
      process.stdout.write(renderDomainCard(card, terminalWidth()));
    });
  addDomainActions(domain);
  addDomainUpkeep(domain);
}

const mostRows = 10_000;
const mostTop = 1000;

type ShownDomain = Json<Omit<DomainRow, 'bucket' | 'domainKey'>>;

async function loadCard(api: Api, name: string): Promise<DomainCard> {
  try {
    return await api.get<DomainCard>(pathOf`/api/v1/domains/${name}`);
  } catch (error) {
    throw error instanceof AppError && error.code === 'domain_unknown' ? unknownDomain(name) : error;
  }
}

const columns: Column<ShownDomain>[] = [
  { title: 'DOMAIN', value: (row) => row.name, flexible: true },
  { title: 'STATUS', value: (row) => row.status },
  { title: 'PAGES', value: (row) => `${row.pagesCrawled}/${row.pagesKnown}`, align: 'right' },
  { title: 'DOCS', value: (row) => String(row.documents), align: 'right' },
  { title: 'IMAGES', value: (row) => String(row.imagesStored), align: 'right' },
  { title: 'YIELD', value: (row) => row.yield.toFixed(2), align: 'right' },
  { title: 'LAST CRAWLED', value: (row) => relativeTime(row.lastCrawledAt) },
];

function printDomains(rows: readonly ShownDomain[]): void {
  if (rows.length === 0) return void process.stdout.write('No domain matches.\n');
  const width = terminalWidth();
  const [title, ...lines] = renderTable(rows, columns, width).trimEnd().split('\n');
  const out = [title!];
  for (const [index, line] of lines.entries()) {
    out.push(line);
    const reason = restLine(rows[index]!);
    if (reason !== null) out.push(cutToWidth(`  ${oneLine(reason)}`, width));
  }
  process.stdout.write(`${out.join('\n')}\n`);
}
