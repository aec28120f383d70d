import { type Command, Option } from 'commander';
import {
  type DomainRow,
  type DomainSort,
  type DomainStatus,
  domainSorts,
  domainStatuses,
  listDomains,
  topDomains,
  unknownDomain,
} from '../../domains/index.ts';
import { describeDomain, loadDomainFacts } from '../../explain/index.ts';
import { loadContext, withDatabase } from '../context.ts';
import { renderDomainCard } from '../domain-card.ts';
import { restLine, shownDomain, shownFacts } from '../domain-words.ts';
import { wholeNumber } from '../numbers.ts';
import { type Column, cutToWidth, oneLine, printJson, relativeTime, renderTable } from '../output.ts';
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
      const { rows, cursor } = await withDatabase(context, ({ pool }) =>
        listDomains(pool, { ...(flags.status ? { status: flags.status } : {}), sort: flags.sort, limit }),
      );
      if (context.flags.json) return printJson(rows.map(shownDomain));
      printDomains(rows);
      if (cursor !== null) process.stdout.write(`The first ${limit}; --limit shows more.\n`);
    });
  domain
    .command('top')
    .description('domains that give most documents per page')
    .option('--limit <n>', 'how many', '20')
    .option('--pages <n>', 'only domains with at least so many pages crawled', '5')
    .action(async (flags: { limit: string; pages: string }, command: Command) => {
      const limit = wholeNumber('--limit', flags.limit, { least: 1, most: mostRows });
      const leastPages = wholeNumber('--pages', flags.pages, { least: 1, most: 1_000_000_000 });
      const context = loadContext(command);
      const rows = await withDatabase(context, ({ pool }) => topDomains(pool, { limit, leastPages }));
      if (context.flags.json) return printJson(rows.map(shownDomain));
      printDomains(rows);
    });
  domain
    .command('info <domain>')
    .description('everything about one domain: state, queue, budget, delay, score, events, runs, robots.txt')
    .action(async (name: string, _flags: object, command: Command) => {
      const context = loadContext(command);
      const { fetch, domains } = context.loaded.config;
      const defaults = { defaultDelayMs: fetch.defaultDelayMs, defaultBudget: domains.maxPagesPerRun };
      const facts = await withDatabase(context, ({ pool }) => loadDomainFacts(pool, name, defaults));
      if (facts === null) throw unknownDomain(name);
      if (context.flags.json) return printJson({ ...describeDomain(facts), facts: shownFacts(facts) });
      process.stdout.write(renderDomainCard(facts, terminalWidth()));
    });
  addDomainActions(domain);
  addDomainUpkeep(domain);
}

const mostRows = 10_000;
const terminalWidth = (): number => process.stdout.columns ?? Number.POSITIVE_INFINITY;

const columns: Column<DomainRow>[] = [
  { title: 'DOMAIN', value: (row) => row.name, flexible: true },
  { title: 'STATUS', value: (row) => row.status },
  { title: 'PAGES', value: (row) => `${row.pagesCrawled}/${row.pagesKnown}`, align: 'right' },
  { title: 'DOCS', value: (row) => String(row.documents), align: 'right' },
  { title: 'IMAGES', value: (row) => String(row.imagesStored), align: 'right' },
  { title: 'YIELD', value: (row) => row.yield.toFixed(2), align: 'right' },
  { title: 'LAST CRAWLED', value: (row) => relativeTime(row.lastCrawledAt) },
];

function printDomains(rows: readonly DomainRow[]): void {
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
