import type { CompletedCommand } from './model.ts';

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** A script for fish; each line is one thing that can be typed after a command. */
export function renderFish(commands: readonly CompletedCommand[]): string {
  const paths = commands.filter((one) => one.path !== '').map((one) => quote(one.path));
  const valued = commands.flatMap(({ path, options }) =>
    options
      .filter((one) => one.value !== 'none')
      .flatMap((one) => one.flags.map((flag) => quote(`${path}:${flag}`))),
  );
  const lines = commands.flatMap((command) => linesOf(command));
  return `# fish completion of outrider; put it to use with:
#   outrider completion fish > ~/.config/fish/completions/outrider.fish

set -g __outrider_paths ${paths.join(' ')}
set -g __outrider_valued ${valued.join(' ')}

# Whether the command that is being typed is this one.
function __outrider_at
    set -l where ''
    set -l skips no
    for word in (commandline -opc)[2..-1]
        if test $skips = yes
            set skips no
        else if string match -q -- '-*' $word
            contains -- "$where:$word" $__outrider_valued; and set skips yes
        else
            set -l next (string trim -- "$where $word")
            contains -- $next $__outrider_paths; and set where $next
        end
    end
    test "$where" = "$argv[1]"
end

${lines.join('\n')}
`;
}

function linesOf({ path, commands, options, words }: CompletedCommand): string[] {
  const here = `complete -c outrider -n ${quote(`__outrider_at ${quote(path)}`)}`;
  return [
    ...commands.map((one) => `${here} -f -a ${quote(one.name)} -d ${quote(one.description)}`),
    ...words.map((one) => `${here} -f -a ${quote(one)}`),
    ...options.map(({ flags, description, value }) => {
      const names = flags.map((flag) =>
        flag.startsWith('--') ? `-l ${quote(flag.slice(2))}` : `-s ${quote(flag.slice(1))}`,
      );
      const taken =
        value === 'none' ? '' : value === 'any' ? ' -r' : ` -x -a ${quote((value as string[]).join(' '))}`;
      return `${here} ${names.join(' ')}${taken} -d ${quote(description)}`;
    }),
  ];
}
