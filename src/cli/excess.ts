import type { Command } from 'commander';
import { suggestion } from '../config/index.ts';
import { AppError, EXIT } from '../errors/index.ts';
import { nameOf } from './context.ts';

/**
 * Lets every command take more words than it knows what to do with, so that `refuseExcess` can say what is wrong with
 * them: "too many arguments" is no help for whoever writes `sources list`, or a command of `jobs` with a slip.
 */
export function allowExcess(command: Command): void {
  command.allowExcessArguments(true);
  for (const one of command.commands) allowExcess(one);
}

/** Refuses words that a command does not take. */
export function refuseExcess(command: Command): void {
  const { registeredArguments: known, args } = command;
  if (known.at(-1)?.variadic === true || args.length <= known.length) return;
  const typed = args[known.length]!;
  const group = groupOf(command);
  if (group === null)
    throw new AppError('usage', `"${nameOf(command)}" takes no "${typed}"`, {
      exitCode: EXIT.usage,
      advice: `See "${nameOf(command)} --help".`,
    });
  const name = nameOf(group);
  const words = group.commands.map((one) => one.name());
  throw new AppError('usage', `"${name}" has no command "${typed}"${suggestion(typed, words)}`, {
    exitCode: EXIT.usage,
    advice: `It has ${words.join(', ')}. Alone it does this: ${command.description()}.`,
  });
}

/**
 * Refuses an empty word, as a variable that is not set leaves one: nothing is called so, and nothing is found by it. Who
 * takes addresses alone says himself how one is written.
 */
export function refuseEmpty(command: Command): void {
  const at = command.args.findIndex((word) => word.trim() === '');
  const argument = command.registeredArguments[at] ?? command.registeredArguments.at(-1);
  if (at < 0 || argument === undefined || argument.name() === 'url') return;
  throw new AppError('usage', `"${nameOf(command)}" takes no empty <${argument.name()}>`, {
    exitCode: EXIT.usage,
    advice: `See "${nameOf(command)} --help".`,
  });
}

/** The command whose subcommand somebody meant; null where the words stand behind one that was named. */
function groupOf(command: Command): Command | null {
  if (command.commands.length > 0) return command;
  const { parent } = command;
  // The command that stands for a group where none is named.
  const isNamed = parent?.args[0] === command.name();
  return parent === null || parent.parent === null || isNamed ? null : parent;
}
