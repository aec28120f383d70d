import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { AppError, EXIT, unwritable } from '../../errors/index.ts';
import type { ListedImage } from '../../images/index.ts';
import { identifyUrl } from '../../url/index.ts';
import { type Json, listItems, withApi } from '../api.ts';
import { loadContext, localOnly } from '../context.ts';
import { wholeNumber } from '../numbers.ts';
import { printJson, printTable, relativeTime } from '../output.ts';
import { sourcePath } from '../source-path.ts';

type ListFlags = { source?: string; document?: string; limit: string };

/** `images list|get`. */
export function addImageCommands(program: Command): void {
  const images = program
    .command('images')
    .description('list images that articles show, and get what is stored of them');
  images
    .command('list', { isDefault: true })
    .description('images that articles show, newest first, and what became of them')
    .option('--source <slug>', 'only those of a publisher')
    .option('--document <url>', 'only those of one article')
    .option('--limit <n>', 'most lines', '50')
    .action(async (flags: ListFlags, command: Command) => {
      const limit = wholeNumber('--limit', flags.limit, { least: 1, most: 100_000 });
      const { source, document } = flags;
      if (document !== undefined) requireAddress(document);
      if (source !== undefined) sourcePath(source);
      const context = loadContext(command);
      const { items: listed, isMore } = await withApi(context, (api) =>
        listItems<Json<ListedImage>>(api, '/api/v1/images', { source, document }, limit),
      );
      if (context.flags.json) return printJson(listed);
      if (listed.length === 0)
        return void process.stdout.write(
          'No images yet. They are stored for sources set so: outrider sources set SLUG --images store\n',
        );
      printTable(listed, [
        { title: 'STATE', value: stateOf },
        { title: 'FORMAT', value: (row) => row.format ?? '–' },
        { title: 'SIZE', value: (row) => (row.width === null ? '–' : `${row.width} × ${row.height}`) },
        { title: 'BYTES', value: (row) => (row.bytes === null ? '–' : String(row.bytes)), align: 'right' },
        { title: 'SHA-256', value: (row) => row.sha256?.slice(0, 12) ?? '–' },
        { title: 'SEEN', value: (row) => relativeTime(row.lastSeenAt) },
        { title: 'URL', value: (row) => row.url, flexible: true },
        { title: 'PAGE', value: (row) => row.pageUrl ?? '–', flexible: true },
      ]);
      if (isMore) process.stdout.write(`The first ${limit}; --limit shows more.\n`);
    });
  images
    .command('get <sha256> <file>')
    .description('write the bytes of a stored image into a file; "-" is the standard output')
    .action(async (name: string, file: string, _flags: object, command: Command) => {
      if (!/^[0-9a-f]{64}$/i.test(name))
        throw new AppError('usage', `"${name}" is no SHA-256 of an image`, {
          exitCode: EXIT.usage,
          advice: '"outrider images --json" shows them.',
        });
      const context = loadContext(command);
      // The store is one of this machine's settings, and the API serves no images.
      if (context.server !== null) throw localOnly(context.name, context.server);
      // Only here: a store brings an HTTP client, which every other command would have to load.
      const { openBlobStore } = await import('../../blobs/index.ts');
      const store = openBlobStore(context.loaded.config);
      const result = await store.get(Buffer.from(name, 'hex')).finally(() => store.close());
      if (result.outcome !== 'found') {
        const why = result.outcome === 'failed' ? `cannot be read: ${result.detail}` : `is ${result.outcome}`;
        throw new AppError('image_unreadable', `image ${name} ${why}`, {
          retry: result.outcome === 'failed',
          advice: `It was looked for in the ${store.kind} that blobs.kind names.`,
        });
      }
      if (file === '-') process.stdout.write(result.body);
      else
        await writeFile(file, result.body).catch((error: unknown) => {
          throw unwritable(file, error);
        });
    });
}

function stateOf(row: Json<ListedImage>): string {
  if (row.sha256 !== null) return 'stored';
  return row.errorCode ?? row.status;
}

function requireAddress(url: string): void {
  if (identifyUrl(url).outcome === 'rejected')
    throw new AppError('usage', `"${url}" is no address of a document`, { exitCode: EXIT.usage });
}
