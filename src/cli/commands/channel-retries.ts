import type { Command } from 'commander';
import { withApi } from '../api.ts';
import { loadContext } from '../context.ts';
import { printJson } from '../output.ts';
import { sourcePath } from '../source-path.ts';

type Portion = {
  dryRun: boolean;
  matched: number;
  outcomes: Record<string, number>;
  cursor: string | null;
};

const refusals: Readonly<Record<string, string>> = {
  'refused:disabled': 'disabled',
  'refused:source_disabled': 'of disabled sources',
  'refused:links_only': 'of sources that are followed by links only',
  'refused:no_row': 'without a row to wake',
};

/** `channels retry-failing`. */
export function addChannelRetries(channels: Command): void {
  channels
    .command('retry-failing [slug]')
    .description('poll every channel whose polls fail, of all sources or of one')
    .option('--reset', 'also forget their errors')
    .option('--dry-run', 'only say how many')
    .action(
      async (slug: string | undefined, flags: { reset?: boolean; dryRun?: boolean }, command: Command) => {
        if (slug !== undefined) sourcePath(slug);
        const context = loadContext(command);
        const asked = {
          action: flags.reset ? 'reset' : 'poll',
          filter: { state: 'failing', source: slug },
          dryRun: flags.dryRun ?? false,
        };
        const done = await withApi(context, async (api) => {
          const sum = { dryRun: asked.dryRun, matched: 0, outcomes: {} as Record<string, number> };
          for (let cursor: string | null | undefined; cursor !== null; ) {
            const portion: Portion = await api.post('/api/v1/channels/actions', { ...asked, cursor });
            sum.matched += portion.matched;
            for (const [outcome, count] of Object.entries(portion.outcomes))
              sum.outcomes[outcome] = (sum.outcomes[outcome] ?? 0) + count;
            cursor = portion.cursor;
          }
          return sum;
        });
        if (context.flags.json) return printJson(done);
        process.stdout.write(`${wordsFor(done)}\n`);
      },
    );
}

function wordsFor({ dryRun, matched, outcomes }: Omit<Portion, 'cursor'>): string {
  if (matched === 0) return 'No channel fails.';
  const woken = (outcomes.polled ?? 0) + (outcomes.reset ?? 0);
  const verb = dryRun ? 'would be' : woken === 1 ? 'is' : 'are';
  const forgotten = outcomes.reset === undefined ? '' : ', and their errors are forgotten';
  const lines = [
    `${woken} of ${matched} failing ${matched === 1 ? 'channel' : 'channels'} ${verb} polled as soon as their domains may be asked${forgotten}.`,
  ];
  for (const [outcome, words] of Object.entries(refusals))
    if (outcomes[outcome] !== undefined) lines.push(`Left alone: ${outcomes[outcome]} ${words}.`);
  return lines.join('\n');
}
