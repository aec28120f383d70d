import type { CompletedCommand } from './model.ts';

// Names, flags and words of ours have no quote and no blank, so single quotes are enough.
const quoted = (words: readonly string[]): string => `'${words.join(' ')}'`;

/**
 * A script for bash 3.2 and newer (that of macOS), without the bash-completion package. It walks the words to find the
 * command that is being typed; where nothing of ours fits, the shell offers files.
 */
export function renderBash(commands: readonly CompletedCommand[]): string {
  const paths = commands
    .filter((one) => one.path !== '')
    .map((one) => `      ${quoted([one.path])}) return 0 ;;`);
  const values = commands.flatMap(({ path, options }) =>
    options
      .filter((one) => one.value !== 'none')
      .map(({ flags, value }) => {
        const patterns = flags.map((flag) => `'${path}:${flag}'`).join('|');
        return `    ${patterns}) _outrider_words=${value === 'any' ? "''" : quoted(value as string[])} ; return 0 ;;`;
      }),
  );
  const offers = commands.map(
    ({ path, commands: names, options, words }) =>
      `    '${path}') names=${quoted([...names.map((one) => one.name), ...words])} ; flags=${quoted(options.flatMap((one) => one.flags))} ;;`,
  );
  return `# bash completion of outrider; put it to use with:
#   source <(outrider completion bash)

_outrider_known() {
  case "$1" in
${paths.join('\n')}
  esac
  return 1
}

# Whether an option takes a value, and which words that may be.
_outrider_value() {
  case "$1" in
${values.join('\n')}
  esac
  return 1
}

_outrider() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' names='' flags='' word='' at=1 _outrider_words=''
  COMPREPLY=()
  while [ "$at" -lt "$COMP_CWORD" ]; do
    word="\${COMP_WORDS[at]}"
    at=$((at + 1))
    case "$word" in
      -*)
        if _outrider_value "$path:$word"; then
          if [ "$at" -eq "$COMP_CWORD" ]; then
            [ -n "$_outrider_words" ] && COMPREPLY=($(compgen -W "$_outrider_words" -- "$current"))
            return 0
          fi
          at=$((at + 1))
        fi
        ;;
      *)
        if [ -z "$path" ]; then
          _outrider_known "$word" && path="$word"
        elif _outrider_known "$path $word"; then
          path="$path $word"
        fi
        ;;
    esac
  done
  case "$path" in
${offers.join('\n')}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$current")) ;;
    *) [ -n "$names" ] && COMPREPLY=($(compgen -W "$names" -- "$current")) ;;
  esac
  return 0
}

complete -o default -F _outrider outrider
`;
}
