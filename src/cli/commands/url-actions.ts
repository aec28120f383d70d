import { type Command, Option } from 'commander';
import { AppError, EXIT } from '../../errors/index.ts';
import { type UrlAction, urlKinds, urlStatuses } from '../../frontier/index.ts';
import { identifyUrl } from '../../url/index.ts';
import { type Api, type Query, withApi } from '../api.ts';
import { loadContext } from '../context.ts';
import { count, wholeNumber } from '../numbers.ts';
import { printJson, printTable } from '../output.ts';
import { type UrlFlags, urlQueryOf } from '../url-query.ts';

type FilterFlags = Omit<UrlFlags, 'limit'>;
type Act = { action: UrlAction; priority?: number };

/** `urls retry|remove|priority`. */
export function addUrlActions(urls: Command): void {
  withFilter(
    urls
      .command('retry [url...]')
      .description('fetch URLs again as soon as their domains may be asked, dead ones too'),
  ).action(async (given: string[], flags: FilterFlags, command: Command) =>
    actOn(command, { action: 'retry' }, { given, flags }),
  );
  withFilter(
    urls
      .command('remove [url...]')
      .description('never fetch URLs again: they stay known, and no feed or link brings them back'),
  ).action(async (given: string[], flags: FilterFlags, command: Command) =>
    actOn(command, { action: 'remove' }, { given, flags }),
  );
  withFilter(
    urls.command('priority <n> [url...]').description('set the priority of URLs, from 1 to 10'),
  ).action(async (n: string, given: string[], flags: FilterFlags, command: Command) => {
    const priority = wholeNumber('the priority', n, { least: 1, most: 10 });
    await actOn(command, { action: 'set_priority', priority }, { given, flags });
  });
}

const withFilter = (command: Command): Command =>
  command
    .option('--domain <name>', 'instead of addresses: all of this domain')
    .addOption(
      new Option('--status <words>', `instead of addresses: all of these: ${urlStatuses.join(', ')}`),
    )
    .addOption(new Option('--kind <word>', 'instead of addresses: all of a kind').choices([...urlKinds]))
    .option('--reason <code>', 'instead of addresses: all with this error code, as robots_blocked');

type Chosen = { given: readonly string[]; flags: FilterFlags };

async function actOn(command: Command, act: Act, { given, flags }: Chosen): Promise<void> {
  const hasFilter = Object.values(flags).some((one) => one !== undefined);
  if (hasFilter === given.length > 0)
    throw new AppError('usage', 'name either addresses or what all URLs have in common', {
      exitCode: EXIT.usage,
      advice:
        'Such as --domain example.com --status dead; "outrider urls" with the same options shows which they are.',
    });
  const filter = urlQueryOf(flags);
  const context = loadContext(command);
  if (hasFilter) {
    const done = await withApi(context, (api) => actOnAll(api, act, filter));
    if (context.flags.json) return printJson(done);
    return void process.stdout.write(`${wordsOf(done)}\n`);
  }
  const answers = await withApi(context, (api) => actOnEach(api, act, given));
  if (context.flags.json) printJson(answers);
  else {
    printTable(answers, [
      { title: 'ANSWER', value: (row) => row.answer },
      { title: 'URL', value: (row) => row.url, flexible: true },
    ]);
    for (const answer of new Set(answers.map((one) => one.answer)))
      if (refusals[answer] !== undefined) process.stderr.write(`${answer}: ${refusals[answer]}\n`);
  }
  if (answers.some(({ answer }) => refusals[answer] !== undefined)) process.exitCode = EXIT.usage;
}

type Done = { matched: number; outcomes: Record<string, number> };

/** A portion at a time, until all that match have had their turn. */
async function actOnAll(api: Api, act: Act, filter: Query): Promise<Done> {
  const sum: Done = { matched: 0, outcomes: {} };
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const portion: Done & { cursor: string | null } = await api.post('/api/v1/frontier/actions', {
      ...act,
      filter,
      cursor,
    });
    sum.matched += portion.matched;
    for (const [outcome, times] of Object.entries(portion.outcomes))
      sum.outcomes[outcome] = (sum.outcomes[outcome] ?? 0) + times;
    cursor = portion.cursor;
  }
  return sum;
}

type Answer = { url: string; id: string | null; answer: string };

async function actOnEach(api: Api, act: Act, given: readonly string[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  const wrong = given.find((url) => identifyUrl(url).outcome === 'rejected');
  if (wrong !== undefined)
    throw new AppError('usage', `"${wrong}" is no web address`, {
      exitCode: EXIT.usage,
      advice: 'Give it with its scheme, as https://example.com/article',
    });
  // All of them are found before the first is touched: a slip in the last must not leave half of the work done.
  for (const url of given) {
    const { items } = await api.get<{ items: { id: string; kind: string }[] }>('/api/v1/frontier', { url });
    // An address may be a feed and a page at once: the page is meant, polls are steered by their channel.
    const row = items.find(({ kind }) => kind !== 'channel') ?? items[0];
    answers.push({ url, id: row?.id ?? null, answer: 'unknown' });
  }
  for (const one of answers) {
    if (one.id === null) continue;
    const { outcomes } = await api.post<Done>('/api/v1/frontier/actions', { ...act, ids: [one.id] });
    one.answer = Object.keys(outcomes)[0] ?? 'unknown';
  }
  return answers;
}

/** Answers that mean that nothing was done, with what they mean and what to do. */
const refusals: Readonly<Record<string, string>> = {
  unknown: 'no such URL is known; "outrider submit URL" makes it known.',
  'refused:probe': 'it is a probe, which ends by itself.',
  'refused:channel': 'it is polled as a channel; steer it with "outrider channels wake", disable or remove.',
  'refused:channel_gone': 'its channel was removed or has moved; "outrider channels add" brings it back.',
  'refused:source_gone': 'its source was deleted; "outrider submit URL" takes it up for another.',
  'refused:held': 'its source is disabled; "outrider sources enable SLUG" goes on with it.',
  'refused:in_flight': 'a worker is fetching it right now; look again in a minute.',
};

const deeds: Readonly<Record<string, (n: number) => string>> = {
  retried: (n) =>
    `${n === 1 ? 'is' : 'are'} fetched as soon as ${n === 1 ? 'its' : 'their'} domain may be asked`,
  removed: (n) => `${n === 1 ? 'is' : 'are'} removed`,
  changed: (n) => `${n === 1 ? 'has' : 'have'} the new priority`,
  unchanged: (n) => `${n === 1 ? 'was' : 'were'} so already`,
};

function wordsOf({ matched, outcomes }: Done): string {
  if (matched === 0) return 'No URL matches.';
  return Object.entries(outcomes)
    .map(([outcome, n]) =>
      deeds[outcome] === undefined
        ? `${count(n, 'URL')} left alone, ${outcome}: ${refusals[outcome] ?? ''}`
        : `${count(n, 'URL')} ${deeds[outcome](n)}.`,
    )
    .join('\n');
}
