import type { Command } from 'commander';
import type { NamedCommand } from './pages/command-line.ts';

/** Takes the command lines of a text: what stands behind "outrider" or "npm run outrider --", up to what ends it. */
export function commandLinesOf(text: string): string[] {
  const joined = text.replace(/\\\n\s*/g, ' ');
  return joined.split('\n').flatMap((line) => {
    const code = line.replace(/(^|\s)#\s.*$/, '');
    return [...code.matchAll(/(^|[\s(|;&"=])(?:npm run )?outrider(?: --)? +([^;&]+)/g)].map((one) =>
      // A command that the program names in a sentence of its own ends with the quote.
      one[1] === '"' ? one[2]!.split('"')[0]! : one[2]!,
    );
  });
}

const isPlaceholder = (word: string): boolean => /^[A-Z…[<"'$({/.~]/.test(word) || word === '…';

/** What is wrong with a command line; null: nothing. Words in capitals stand for something, "a|b" for either. */
export function problemOf(line: string, commands: readonly NamedCommand[], globals: Command): string | null {
  const words = line
    .split(/ (?:\||>|<|2>) /)[0]!
    .split(/\s+/)
    .filter((word) => word !== '');
  const byPath = new Map(commands.map(({ path, command }) => [path, command]));
  let paths: string[] = [''];
  let at = 0;
  for (; at < words.length; at += 1) {
    const word = words[at]!;
    if (isPlaceholder(word)) break;
    if (word.startsWith('-')) break;
    const next = paths.flatMap((path) =>
      word.split('|').map((one) => (path === '' ? one : `${path} ${one}`)),
    );
    const known = next.filter((path) => byPath.has(path));
    if (known.length === 0 && at > 0) break;
    const missing = next.find((path) => !byPath.has(path));
    if (missing !== undefined) return `there is no command "${missing}"`;
    paths = next;
  }
  if (paths[0] === '' && words[0] !== undefined && !isPlaceholder(words[0]) && !words[0].startsWith('-'))
    return `there is no command "${words[0]}"`;
  const group = paths.map((path) => byPath.get(path)).find((one) => isGroup(one) && takesNothing(one));
  const rest = words[at];
  if (group !== undefined && rest !== undefined && /^[a-z]/.test(rest))
    return `"${group.name()}" has no command "${rest}"`;
  const flags = [
    globals,
    ...paths.map((path) => byPath.get(path)),
    ...paths.map((path) => standIn(byPath, path)),
  ].flatMap((one) => one?.options.flatMap(({ short, long }) => [short, long]) ?? []);
  const odd = words
    .slice(at)
    .map((word) => /^\[?(--?[a-z][a-z-]*)/.exec(word)?.[1])
    .find((flag) => flag !== undefined && flag !== '--help' && flag !== '-h' && !flags.includes(flag));
  return odd === undefined ? null : `"${paths.join('", "')}" has no option ${odd}`;
}

/** The command that a group runs when none of its own is named, as `jobs` is `jobs list`. */
function standIn(byPath: ReadonlyMap<string, Command>, path: string): Command | undefined {
  const { _defaultCommandName: name } = (byPath.get(path) ?? {}) as { _defaultCommandName?: string | null };
  return byPath.get(`${path} ${name ?? ''}`);
}

const isGroup = (command: Command | undefined): command is Command =>
  command !== undefined && command.commands.length > 0;
const takesNothing = (command: Command): boolean => command.registeredArguments.length === 0;
