import type { Argument, Command, Option } from 'commander';

/** What may follow an option: nothing, anything (files are offered), or one of some words. */
export type Value = 'none' | 'any' | readonly string[];

/** An option as it can be completed. */
export type CompletedOption = { flags: readonly string[]; description: string; value: Value };

/** A command with what can stand behind it. */
export type CompletedCommand = {
  /** The words before it, itself included: "docs search"; empty for the program. */
  path: string;
  commands: readonly { name: string; description: string }[];
  options: readonly CompletedOption[];
  /** Words its arguments may be, where they are known. */
  words: readonly string[];
};

/** Every command of a program, parents first. */
export function completedCommands(program: Command): CompletedCommand[] {
  const found: CompletedCommand[] = [];
  const waiting: { command: Command; path: string }[] = [{ command: program, path: '' }];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { command, path } = next;
    const help = command.createHelp();
    const commands = help.visibleCommands(command);
    found.push({
      path,
      commands: commands.map((one) => ({ name: one.name(), description: one.description() })),
      options: [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)].map(optionOf),
      words: command.registeredArguments.flatMap(wordsOf),
    });
    for (const one of commands)
      waiting.push({ command: one, path: path === '' ? one.name() : `${path} ${one.name()}` });
  }
  return found;
}

function optionOf(option: Option): CompletedOption {
  return {
    flags: [option.short, option.long].filter((flag) => flag !== undefined),
    description: option.description,
    value: option.required || option.optional ? (option.argChoices ?? choicesOf(option.flags)) : 'none',
  };
}

const wordsOf = (argument: Argument): readonly string[] => {
  const choices = argument.argChoices ?? choicesOf(argument.name());
  return choices === 'any' ? [] : choices;
};

// "<on|off>" names the values themselves, "<url|id>" only what kind of thing they are.
const kinds = new Set(['url', 'id', 'domain', 'file', 'json', 'n']);

function choicesOf(text: string): 'any' | string[] {
  const words = (/<([^>]*)>/.exec(text)?.[1] ?? text).split('|');
  return words.length < 2 || words.some((word) => kinds.has(word) || !/^[a-z]+$/.test(word)) ? 'any' : words;
}
