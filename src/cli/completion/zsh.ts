import type { CompletedCommand } from './model.ts';

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
// _describe splits at the first colon that is not escaped.
const described = (name: string, text: string): string => quote(`${name.replaceAll(':', '\\:')}:${text}`);

/** A script for zsh, with what each command and option is for beside it. */
export function renderZsh(commands: readonly CompletedCommand[]): string {
  const paths = commands.filter((one) => one.path !== '').map((one) => quote(one.path));
  const values = commands.flatMap(({ path, options }) =>
    options
      .filter((one) => one.value !== 'none')
      .flatMap(({ flags, value }) =>
        flags.map(
          (flag) =>
            `  ${quote(`${path}:${flag}`)} ${quote(value === 'any' ? '' : (value as string[]).join(' '))}`,
        ),
      ),
  );
  const offers = commands.map(({ path, commands: names, options, words }) => {
    const offered = [
      ...names.map((one) => described(one.name, one.description)),
      ...words.map((one) => quote(one)),
    ];
    const flags = options.flatMap((one) => one.flags.map((flag) => described(flag, one.description)));
    return `    ${quote(path)})
      names=(${offered.join(' ')})
      flags=(${flags.join(' ')})
      ;;`;
  });
  return `#compdef outrider
# zsh completion of outrider; put it to use with:
#   source <(outrider completion zsh)
# or write it into a file _outrider in a directory of $fpath.

typeset -gA _outrider_values
_outrider_values=(
${values.join('\n')}
)
typeset -ga _outrider_paths
_outrider_paths=(${paths.join(' ')})

_outrider() {
  local -a names flags choices
  local where='' word='' key=''
  local -i at=2
  while (( at < CURRENT )); do
    word="\${words[at]}"
    (( at += 1 ))
    if [[ "$word" == -* ]]; then
      key="$where:$word"
      if (( \${+_outrider_values[$key]} )); then
        if (( at == CURRENT )); then
          choices=(\${(s: :)_outrider_values[$key]})
          if (( \${#choices} )); then compadd -a choices; else _files; fi
          return
        fi
        (( at += 1 ))
      fi
    elif (( \${_outrider_paths[(Ie)\${where:+$where }$word]} )); then
      where="\${where:+$where }$word"
    fi
  done
  case "$where" in
${offers.join('\n')}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe -o 'option' flags
  elif (( \${#names} )); then
    _describe 'command' names
  else
    _files
  fi
}

if [ "$funcstack[1]" = '_outrider' ]; then _outrider "$@"; else compdef _outrider outrider; fi
`;
}
