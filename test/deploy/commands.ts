import type { Command } from 'commander';

/** Calls of the program that a text names, as far as they are words, options and what people put in (in capitals). */
export const namedCommands = (text: string): string[] =>
  [...text.matchAll(/\boutrider((?: +(?:--?[a-z][a-z-]*|[a-z][a-z-]*(?![\w:/@]|\.\w)|[A-Z]+\b))+)/g)].map(
    (match) => `outrider${match[1]!.replace(/ +/g, ' ')}`,
  );

/** Those of them that the command line does not have, as far as the word that is wrong. */
export const unknownCommands = (program: Command, text: string): string[] =>
  namedCommands(text).flatMap((call) => wrongPartOf(program, call.split(' ').slice(1)) ?? []);

// In prose a sentence goes on behind a call ("outrider channels shows which are late").
const prose = new Set(['and', 'lists', 'looks', 'or', 'says', 'shows', 'tells', 'then']);

/** A call up to the word that there is not; null when all of it is known. */
export function wrongPartOf(program: Command, words: readonly string[]): string | null {
  let command = program;
  for (const [at, word] of words.entries()) {
    const wrong = `outrider ${words.slice(0, at + 1).join(' ')}`;
    if (command !== program && prose.has(word)) return null;
    if (word.startsWith('-')) {
      if (!optionsOf(command).has(word)) return wrong;
      continue;
    }
    const next = command.commands.find((one) => one.name() === word);
    if (next !== undefined) command = next;
    // What has commands takes nothing else first; the others take what they are given.
    else if (command.commands.length > 0 && /^[a-z]/.test(word) && words[at - 1]?.startsWith('-') !== true)
      return wrong;
  }
  return null;
}

/** Options of a command; a group that lists by itself has those of its list. */
function optionsOf(command: Command): Set<string | undefined> {
  const listing = command.commands.filter((one) => ['list', 'status'].includes(one.name()));
  return new Set(
    [command, ...listing].flatMap((one) => {
      const help = one.createHelp();
      return [...help.visibleOptions(one), ...help.visibleGlobalOptions(one)].flatMap((option) => [
        option.long,
        option.short,
      ]);
    }),
  );
}
