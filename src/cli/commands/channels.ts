import { type Command, Option } from 'commander';
import { findChannelIds, listChannels, loadPushStates } from '../../channels/index.ts';
import type { Queryable } from '../../db/index.ts';
import { findSourceBySlug } from '../../sources/index.ts';
import { loadContext, withDatabase } from '../context.ts';
import { wholeNumber } from '../numbers.ts';
import { printJson, printTable, relativeTime } from '../output.ts';
import { addChannelChanges, kinds } from './channel-changes.ts';
import { unknownSource } from './sources.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);

type ListFlags = {
  source?: string;
  kind?: (typeof kinds)[number];
  failing?: boolean;
  pushed?: boolean;
  limit: string;
};

/** `channels`. */
export function addChannelCommands(program: Command): void {
  const channels = program
    .command('channels')
    .description('list feeds and sitemaps with how their polls went, trouble first')
    .option('--source <slug>', 'only those of a source')
    .addOption(new Option('--kind <kind>', 'only those of a kind').choices(kinds))
    .option('--failing', 'only those whose polls fail')
    .option('--pushed', 'only those that a hub pushes')
    .option('--limit <n>', 'most lines', '1000')
    .action(async (flags: ListFlags, command: Command) => {
      const limit = wholeNumber('--limit', flags.limit, { least: 1, most: 100_000 });
      const context = loadContext(command);
      const listed = await withDatabase(context, ({ pool }) => loadListed(pool, { ...flags, limit }));
      if (context.flags.json) return printJson(listed.map(({ hash: _hash, ...rest }) => rest));
      if (listed.length === 0)
        return say(
          (flags.source ?? flags.kind ?? flags.failing ?? flags.pushed)
            ? 'No channel matches.'
            : 'No channels yet. "outrider add <url>" finds them.',
        );
      printTable(listed, [
        { title: 'ID', value: (row) => String(row.id), align: 'right' },
        { title: 'KIND', value: (row) => (row.enabled ? row.kind : `${row.kind} (off)`) },
        { title: 'URL', value: (row) => row.url, flexible: true },
        { title: 'POLLS', value: (row) => String(row.polls), align: 'right' },
        { title: '304', value: (row) => String(row.notModified), align: 'right' },
        { title: 'NEW/SEEN', value: (row) => `${row.itemsNew}/${row.itemsSeen}`, align: 'right' },
        {
          title: 'ERRORS',
          value: (row) => (row.errorsInRow === 0 ? '–' : `${row.errorsInRow} × ${row.errorKind}`),
        },
        { title: 'LAST GOOD', value: (row) => relativeTime(row.lastSuccessAt) },
        { title: 'NEXT', value: (row) => (row.enabled ? relativeTime(row.dueAt) : '–') },
        { title: 'PUSH', value: (row) => row.push?.state ?? '–' },
      ]);
    });
  addChannelChanges(channels);
}

async function loadListed(db: Queryable, filter: Omit<ListFlags, 'limit'> & { limit: number }) {
  if (filter.source !== undefined && (await findSourceBySlug(db, filter.source)) === null)
    throw unknownSource(filter.source);
  const ids = await findChannelIds(db, filter);
  const listed = await listChannels(db, { ids, limit: filter.limit });
  const pushes = await loadPushStates(db, ids);
  return listed.map((one) => ({ ...one, push: pushes.get(one.id) ?? null }));
}
