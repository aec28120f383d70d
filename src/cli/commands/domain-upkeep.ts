import type { Command } from 'commander';
import type { BackfillReport, RecalculateReport, SeedReport } from '../../domains/index.ts';
import { type Api, patiently, withApi } from '../api.ts';
import { loadContext } from '../context.ts';
import { type Input, openInput } from '../input-file.ts';
import { cutIntoParts } from '../line-parts.ts';
import { count } from '../numbers.ts';
import { printJson } from '../output.ts';
import { type Progress, startProgress } from '../progress.ts';

/** `domain seed|recalculate|backfill`. */
export function addDomainUpkeep(domain: Command): void {
  domain
    .command('seed <file>')
    .description('enter domains from a list: one domain, "rank,domain" or URL per line; - is standard input')
    .requiredOption('--dataset <name>', 'name of the list, as tranco_20260205')
    .action(async (file: string, flags: { dataset: string }, command: Command) => {
      const input = openInput(file, 'Give a text file with one domain, "rank,domain" or URL per line.');
      const context = loadContext(command);
      const progress = startProgress(input.bytes);
      const report = await withApi(context, (api) => seed(api, input, flags.dataset, progress)).finally(() =>
        progress.end(),
      );
      if (context.flags.json) return printJson(report);
      sayReport(report);
    });
  domain
    .command('recalculate')
    .description('recompute scores, page counts and what slots say of their rows')
    .action(async (_flags: object, command: Command) => {
      const context = loadContext(command);
      const progress = startProgress(256);
      const report = await withApi(context, (api) => recalculate(api, progress)).finally(() =>
        progress.end(),
      );
      if (context.flags.json) return printJson(report);
      const fields = Object.entries(report.fields).map(([name, times]) => `${name} ${times}×`);
      say(`${count(report.domains, 'domain')} looked at, ${report.scored} scored.`);
      say(
        report.repaired === 0
          ? 'Every slot says what its rows say.'
          : `${report.repaired} of them said something else than ${report.repaired === 1 ? 'its rows and was' : 'their rows and were'} mended: ${fields.join(', ')}.`,
      );
      if (report.counts > 0) say(`The counts of ${count(report.counts, 'source')} were put right.`);
      if (report.leased > 0) say(`${report.leased} are being worked on; their workers recount them.`);
    });
  domain
    .command('backfill')
    .description('make domains and slots for rows and logs that have none, after an import for instance')
    .action(async (_flags: object, command: Command) => {
      const context = loadContext(command);
      const report = await withApi(context, backfill);
      if (context.flags.json) return printJson(report);
      const { active, exhausted, blocked } = report.made;
      const made = active + exhausted + blocked;
      say(`${count(made, 'domain')} made: ${active} active, ${exhausted} exhausted, ${blocked} blocked.`);
      if (report.slots > 0) say(`${count(report.slots, 'domain')} got a slot, which was missing.`);
      if (report.misfiledRows > 0)
        say(
          `${count(report.misfiledRows, 'row')} under another key than the address has: left alone and not fetched.`,
        );
      if (report.unreadableRows > 0)
        say(`${count(report.unreadableRows, 'row')} with an address that cannot be read.`);
    });
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);
function sayReport(report: SeedReport): void {
  say(
    `${count(report.domains, 'domain')}: ${report.added} new, ${report.known} known before; ${report.submitted} entry URLs submitted.`,
  );
  if (report.bad === 0) return;
  say(`${report.bad} of ${report.lines} lines could not be read:`);
  for (const { number, reason } of report.badLines.slice(0, 10)) say(`  line ${number}: ${reason}`);
  if (report.bad > 10) say('  … --json lists the first hundred.');
}

// Large enough to be sorted by rank in batches, small enough for an answer in seconds.
const partChars = 1024 * 1024;
const mostBadLines = 100;

async function seed(api: Api, input: Input, dataset: string, progress: Progress): Promise<SeedReport> {
  const all: SeedReport = { lines: 0, domains: 0, added: 0, known: 0, submitted: 0, bad: 0, badLines: [] };
  for await (const { text, firstLine } of cutIntoParts(input.chunks(), partChars)) {
    const part = await api.upload<SeedReport>(
      '/api/v1/domains/seed',
      { dataset },
      { type: 'text/plain', text },
    );
    for (const name of ['domains', 'added', 'known', 'submitted', 'bad'] as const) all[name] += part[name];
    all.lines = firstLine - 1 + part.lines;
    for (const { number, reason } of part.badLines)
      if (all.badLines.length < mostBadLines) all.badLines.push({ number: firstLine - 1 + number, reason });
    progress.show(input.read(), `bytes, ${all.domains} domains`);
  }
  return all;
}

/** Part after part: one call works for some ten seconds and says where to go on. */
async function recalculate(api: Api, progress: Progress): Promise<RecalculateReport> {
  const all: RecalculateReport = { scored: 0, domains: 0, repaired: 0, leased: 0, fields: {}, counts: 0 };
  for (let from: number | null = 0; from !== null; ) {
    const part: RecalculateReport & { next: number | null } = await api.post(
      `/api/v1/domains/recalculate?from=${from}`,
      undefined,
      patiently,
    );
    for (const name of ['scored', 'domains', 'repaired', 'leased', 'counts'] as const)
      all[name] += part[name];
    for (const [name, times] of Object.entries(part.fields))
      all.fields[name] = (all.fields[name] ?? 0) + times;
    from = part.next;
    progress.show(from ?? 256, 'parts');
  }
  return all;
}

async function backfill(api: Api): Promise<BackfillReport> {
  const made = { active: 0, exhausted: 0, blocked: 0 };
  let [slots, merged] = [0, 0];
  const { stderr } = process;
  try {
    for (;;) {
      const part = await api.post<BackfillReport>('/api/v1/domains/backfill', undefined, patiently);
      for (const status of ['active', 'exhausted', 'blocked'] as const) made[status] += part.made[status];
      slots += part.slots;
      merged += part.merged;
      // Every call looks at all rows first, so what was only counted is told by the last.
      if (part.finished) return { ...part, made, slots, merged };
      const sum = made.active + made.exhausted + made.blocked;
      // No bar: nobody knows how many there will be.
      if (stderr.isTTY) stderr.write(`\r\u001b[K${sum} domains made, going on …`);
    }
  } finally {
    if (stderr.isTTY) stderr.write('\r\u001b[K');
  }
}
