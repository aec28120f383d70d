import type { Argument, Command, Option } from 'commander';
import { isAboutThisMachine } from '../../../src/cli/context.ts';
import { buildProgram } from '../../../src/cli/program.ts';
import { commandNotes } from './command-notes.ts';
import { anchorOf, code, table } from './markdown.ts';

/** A command as it is typed, with itself. */
export type NamedCommand = { path: string; command: Command };

/** Every command there is, parents first, as the help lists them. */
export async function listCommands(): Promise<NamedCommand[]> {
  const program = await buildProgram();
  const below = (command: Command, path: string): NamedCommand[] =>
    command
      .createHelp()
      .visibleCommands(command)
      .filter((one) => one.name() !== 'help')
      .flatMap((one) => {
        const name = path === '' ? one.name() : `${path} ${one.name()}`;
        return [{ path: name, command: one }, ...below(one, name)];
      });
  return below(program, '');
}

const argumentText = (argument: Argument): string => {
  const name = `${argument.name()}${argument.variadic ? '…' : ''}`;
  return argument.required ? name.toUpperCase() : `[${name.toUpperCase()}]`;
};

function optionText({ description, defaultValue, argChoices, mandatory }: Option): string {
  const choices = argChoices === undefined ? '' : `: ${argChoices.join(', ')}`;
  const standard =
    defaultValue === undefined || defaultValue === false || defaultValue === true
      ? ''
      : `; ${String(defaultValue)} unless said`;
  return `${description}${choices}${standard}${mandatory ? ' (required)' : ''}`;
}

const optionRow = (option: Option): string[] => [code(option.flags), optionText(option)];

function section({ path, command }: NamedCommand, depth: number): string[] {
  const words = command.registeredArguments.map(argumentText).join(' ');
  const options = command.options.filter((one) => !one.hidden && one.long !== '--help');
  const isGroup = command.commands.length > 0 && command.registeredArguments.length === 0;
  const typed = ['outrider', path, words, ...(options.length > 0 ? ['[options]'] : [])]
    .filter(Boolean)
    .join(' ');
  const note = commandNotes[path];
  return [
    '',
    `${'#'.repeat(depth)} ${path}`,
    '',
    `${code(typed)} — ${command.description()}.${note === undefined ? '' : ` ${note}`}`,
    ...table(['option', 'what it does'], options.map(optionRow)),
    ...(isGroup && depth === 2
      ? [
          '',
          `${standsFor(command, path)}Commands: ${command.commands.map((one) => link(`${path} ${one.name()}`)).join(', ')}.`,
        ]
      : []),
  ];
}

/** What a group does when none of its commands is named. */
function standsFor(command: Command, path: string): string {
  const { _defaultCommandName: name } = command as unknown as { _defaultCommandName?: string | null };
  return name ? `${code(`outrider ${path}`)} alone is ${code(`outrider ${path} ${name}`)}. ` : '';
}

const link = (path: string): string => `[${path}](#${anchorOf(path)})`;

/** docs/reference/command-line.md. */
export async function renderCommandLine(): Promise<string> {
  const program = await buildProgram();
  const commands = await listCommands();
  const tops = commands.filter(({ path }) => !path.includes(' '));
  const local = tops.filter(({ command }) => isAboutThisMachine(command)).map(({ path }) => code(path));
  const remote = tops.filter(({ command }) => !isAboutThisMachine(command)).map(({ path }) => code(path));
  return `${[
    '# Command line',
    '',
    'Made from the program itself (`src/cli`) by `scripts/write-reference.mjs`; a test keeps it in step. `outrider COMMAND --help` says the same. From a checkout `npm run outrider -- COMMAND` is `outrider COMMAND`.',
    '',
    'Logs go to standard error, data to standard output. Tables fit the terminal: columns that can be spared are left out where it is narrow, and nothing is cut when the output is piped or `--json`. Colours and bold appear on a terminal only, and not with `NO_COLOR`. How commands end: [exit codes](exit-codes.md).',
    ...table(
      ['command', 'what it does'],
      tops.map(({ path, command }) => [link(path), command.description()]),
    ),
    '',
    '## Every command',
    '',
    'These options are understood by every command.',
    ...table(
      ['option', 'what it does'],
      program.options.filter((one) => one.long !== '--version').map(optionRow),
    ),
    '',
    '## Another machine',
    '',
    `With \`--server\` (or \`OUTRIDER_SERVER\`) and \`--token\` (or \`OUTRIDER_TOKEN\`) a command works with the API of another machine: ${remote.join(', ')} do. The others (${local.join(', ')}, and \`images get\`, \`token sign-in\`, \`token end-sessions\`) are about this machine and say so. Without a server the same commands ask the same routes inside their own process, so both answer alike.`,
    '',
    'Reading needs a token of the role read, changing one of the role write; `switch`, `token`, `sources delete`, `sources robots`, proxies, `sinks remove`, `domain recalculate`, `domain backfill` and `jobs sync` need admin. The [routes](api.md) say which need what. Passwords of proxies are masked in what is shown, and stand in an `export` by an admin only.',
    ...commands.flatMap((one) => section(one, one.path.includes(' ') ? 3 : 2)),
  ].join('\n')}\n`;
}
