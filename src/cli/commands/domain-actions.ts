import { type Command, Option } from 'commander';
import {
  type DomainChoice,
  type DomainStatus,
  type RulesChange,
  unknownDomain,
} from '../../domains/index.ts';
import { AppError, EXIT } from '../../errors/index.ts';
import type { HostRules } from '../../url/index.ts';
import { type Api, pathOf, patiently, withApi } from '../api.ts';
import { type Context, loadContext } from '../context.ts';
import { wholeNumber } from '../numbers.ts';
import { poolName } from '../operator.ts';
import { printJson } from '../output.ts';

/** `domain reset|block|set|release`. */
export function addDomainActions(domain: Command): void {
  domain
    .command('reset <domain>')
    .description('end a block or rest and forget what led to it; its entry page and listings are due again')
    .requiredOption('--reason <words>', 'why, for the list of events')
    .option('--all', 'known articles are due again too')
    .action(async (name: string, flags: { reason: string; all?: boolean }, command: Command) => {
      const context = loadContext(command);
      const { domain, was, requeued } = await ask(context, name, (api, path) =>
        api.post<{ domain: string; was: DomainStatus; requeued: number }>(
          `${path}/reset`,
          { reason: flags.reason, all: flags.all ?? false },
          patiently,
        ),
      );
      if (context.flags.json) return printJson({ domain, reset: true, was, requeued });
      say(
        `${domain} was ${was} and begins anew; ${requeued === 1 ? '1 URL is' : `${requeued} URLs are`} due again.`,
      );
    });
  domain
    .command('block <domain>')
    .description('ask nothing of a domain until it is reset')
    .requiredOption('--reason <words>', 'why, for the list of events')
    .action(async (name: string, flags: { reason: string }, command: Command) => {
      const context = loadContext(command);
      const answer = await ask(context, name, (api, path) =>
        api.post<{ domain: string; blocked: true }>(`${path}/block`, { reason: flags.reason }),
      );
      if (context.flags.json) return printJson(answer);
      say(`${answer.domain} is blocked until "outrider domain reset".`);
    });
  domain
    .command('release <domain>')
    .description('take a domain from the worker that holds it; the gap to its last request stays')
    .action(async (name: string, _flags: object, command: Command) => {
      const context = loadContext(command);
      const answer = await ask(context, name, (api, path) =>
        api.post<{ domain: string; released: boolean; owner: string | null }>(`${path}/release`),
      );
      if (context.flags.json) return printJson(answer);
      say(
        answer.owner === null
          ? `Nobody holds ${answer.domain}.`
          : `${answer.domain} was taken from ${answer.owner}.`,
      );
    });
  domain
    .command('set <domain>')
    .description(
      'give a domain its own delay, budget, group of fetchers or host rules; "default" takes it back',
    )
    .option('--delay <ms>', 'least milliseconds between two requests')
    .option('--budget <n>', 'pages a run of a day may fetch by spider, archive and refresh; 0 holds them all')
    .option('--pool <name>', 'group of fetchers')
    .option('--keep <names>', 'parameters that tell pages apart although they look like tracking, as ref,src')
    .option('--strip <names>', 'parameters that say nothing about a page')
    .addOption(
      new Option(
        '--slash <how>',
        'keep: an address with a slash at its end is another page than without',
      ).choices(['keep', 'default']),
    )
    .action(async (name: string, flags: SetFlags, command: Command) => {
      const change = changeOf(flags);
      const context = loadContext(command);
      const answer = await ask(context, name, (api, path) =>
        api.patch<{ domain: string; rules: Required<HostRules> } & DomainChoice>(path, change),
      );
      if (context.flags.json) return printJson(answer);
      const words = [
        `delay ${answer.delayMs === null ? 'default' : `${answer.delayMs} ms`}`,
        `budget ${answer.budget ?? 'default'}`,
        `fetchers ${answer.pool ?? 'default'}`,
        ...ruleWords(answer.rules),
      ];
      say(`${answer.domain}: ${words.join(', ')}.`);
      if (change.rules !== undefined)
        say('What waits is given its key by these rules within a minute; what was fetched keeps its own.');
    });
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

type SetFlags = {
  delay?: string;
  budget?: string;
  pool?: string;
  keep?: string;
  strip?: string;
  slash?: 'keep' | 'default';
};
type Change = {
  delay_ms?: number | null;
  budget?: number | null;
  pool?: string | null;
  rules?: RulesChange;
};

function changeOf(flags: SetFlags): Change {
  const number = (flag: string, text: string, most: number): number | null =>
    text === 'default' ? null : wholeNumber(flag, text, { least: 0, most });
  const rules = rulesOf(flags);
  const change: Change = {
    ...(flags.delay === undefined ? {} : { delay_ms: number('--delay', flags.delay, 86_400_000) }),
    ...(flags.budget === undefined ? {} : { budget: number('--budget', flags.budget, 10_000_000) }),
    ...(flags.pool === undefined ? {} : { pool: flags.pool === 'default' ? null : poolName(flags.pool) }),
    ...(Object.keys(rules).length === 0 ? {} : { rules }),
  };
  if (Object.keys(change).length === 0)
    throw new AppError('usage', 'nothing to set', {
      exitCode: EXIT.usage,
      advice:
        'Give at least one of --delay, --budget, --pool, --keep, --strip and --slash; "default" takes a value back.',
    });
  return change;
}

function rulesOf({ keep, strip, slash }: SetFlags): RulesChange {
  const names = (text: string): string[] | null => (text === 'default' ? null : text.split(','));
  return {
    ...(keep === undefined ? {} : { keepParameters: names(keep) }),
    ...(strip === undefined ? {} : { stripParameters: names(strip) }),
    ...(slash === undefined ? {} : { keepTrailingSlash: slash === 'keep' ? true : null }),
  };
}

/** Rules in a few words; none are not spoken of. */
function ruleWords({ keepTrailingSlash, keepParameters, stripParameters }: Required<HostRules>): string[] {
  return [
    ...(keepParameters.length === 0 ? [] : [`keeps ${keepParameters.join(' ')}`]),
    ...(stripParameters.length === 0 ? [] : [`strips ${stripParameters.join(' ')}`]),
    ...(keepTrailingSlash ? ['keeps the slash'] : []),
  ];
}

/** Asks something of a domain by its route. */
function ask<T>(context: Context, name: string, act: (api: Api, path: string) => Promise<T>): Promise<T> {
  // No route is so long, and an empty name would be another route.
  if (name === '' || name.length > 300) throw unknownDomain(name.slice(0, 300));
  return withApi(context, (api) => act(api, pathOf`/api/v1/domains/${name}`));
}
