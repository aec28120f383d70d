import type { Command } from 'commander';
import {
  backfillCooldowns,
  backfillDomains,
  recalculateDomains,
  type SeedReport,
  seedDomains,
} from '../../domains/index.ts';
import { loadContext, withDatabase } from '../context.ts';
import { openInput } from '../input-file.ts';
import { operatorName } from '../operator.ts';
import { printJson } from '../output.ts';
import { startProgress } from '../progress.ts';

/** `domain seed|recalculate|backfill`. */
export function addDomainUpkeep(domain: Command): void {
  domain
    .command('seed <file>')
    .description('enter domains from a list: one domain, "rank,domain" or URL per line; - is standard input')
    .requiredOption('--dataset <name>', 'name of the list, as tranco_20260205')
    .action(async (file: string, flags: { dataset: string }, command: Command) => {
      const input = openList(file);
      const context = loadContext(command);
      const progress = startProgress(input.bytes);
      const report = await withDatabase(context, ({ pool }) =>
        seedDomains(pool, input.chunks(), {
          dataset: flags.dataset,
          onProgress: (so) => progress.show(input.read(), `bytes, ${so.domains} domains`),
        }),
      ).finally(() => progress.end());
      if (context.flags.json) return printJson(report);
      sayReport(report);
    });
  domain
    .command('recalculate')
    .description('recompute scores, page counts and what slots say of their rows')
    .action(async (_flags: object, command: Command) => {
      const context = loadContext(command);
      const progress = startProgress(256);
      const report = await withDatabase(context, ({ pool }) =>
        recalculateDomains(pool, (done) => progress.show(done, 'parts')),
      ).finally(() => progress.end());
      if (context.flags.json) return printJson(report);
      const fields = Object.entries(report.fields).map(([name, count]) => `${name} ${count}×`);
      say(`${report.domains} domains looked at, ${report.scored} scored.`);
      say(
        report.repaired === 0
          ? 'Every slot says what its rows say.'
          : `${report.repaired} of them said something else than ${report.repaired === 1 ? 'its rows and was' : 'their rows and were'} mended: ${fields.join(', ')}.`,
      );
      if (report.counts > 0)
        say(
          `The counts of ${report.counts === 1 ? '1 source were' : `${report.counts} sources were`} put right.`,
        );
      if (report.leased > 0) say(`${report.leased} are being worked on; their workers recount them.`);
    });
  domain
    .command('backfill')
    .description('make domains and slots for rows and logs that have none, after an import for instance')
    .action(async (_flags: object, command: Command) => {
      const context = loadContext(command);
      const progress = startProgress(512);
      const report = await withDatabase(context, ({ pool }) =>
        backfillDomains(pool, {
          actor: operatorName(),
          cooldownsMs: backfillCooldowns(context.loaded.config.domains),
          onProgress: (done) => progress.show(done, 'parts'),
        }),
      ).finally(() => progress.end());
      if (context.flags.json) return printJson(report);
      const { active, exhausted, blocked } = report.made;
      const made = active + exhausted + blocked;
      say(
        `${made} ${made === 1 ? 'domain' : 'domains'} made: ${active} active, ${exhausted} exhausted, ${blocked} blocked.`,
      );
      if (report.slots > 0) say(`${report.slots} domains got the slot they lacked.`);
      if (report.misfiledRows > 0)
        say(
          `${report.misfiledRows} rows stand under another key than their address has; they were left alone and are not fetched.`,
        );
      if (report.unreadableRows > 0)
        say(`${report.unreadableRows} rows have an address that cannot be read.`);
    });
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);
function sayReport(report: SeedReport): void {
  say(
    `${report.domains} domains: ${report.added} new, ${report.known} known before; ${report.submitted} entry URLs submitted.`,
  );
  if (report.bad === 0) return;
  say(`${report.bad} of ${report.lines} lines could not be read:`);
  for (const { number, reason } of report.badLines.slice(0, 10)) say(`  line ${number}: ${reason}`);
  if (report.bad > 10) say('  … --json lists the first hundred.');
}

type List = { bytes: number; read(): number; chunks(): AsyncIterable<string> };

function openList(file: string): List {
  const input = openInput(file, 'Give a text file with one domain, "rank,domain" or URL per line.');
  return {
    ...input,
    async *chunks() {
      // Decoded here, so that a character cut in two is put together again.
      const decoder = new TextDecoder();
      for await (const chunk of input.chunks()) yield decoder.decode(chunk, { stream: true });
    },
  };
}
