import type { Command, Option } from 'commander';

/** A command with its subcommands and options, for the completion of a shell. */
interface Entry {
  /** The words before, such as `asset upload`. */
  path: string;
  words: { text: string; description: string }[];
  /** Whether the command takes files. */
  takesFiles: boolean;
}

/** Lists each command with the words that may follow it. */
function entriesOf(command: Command, path: string[] = [], inherited: readonly Option[] = []): Entry[] {
  const options = [...command.options, ...inherited];
  const subcommands = command.commands.filter((each) => each.name() !== 'help');
  const words = [
    ...subcommands.map((each) => ({ text: each.name(), description: each.summary() || each.description() })),
    ...options.flatMap(({ long, description }) => (long ? [{ text: long, description }] : [])),
  ];
  const takesFiles = command.registeredArguments.some((argument) => /FILE|DIR/.test(argument.name()));
  return [
    { path: path.join(' '), words, takesFiles },
    ...subcommands.flatMap((each) => entriesOf(each, [...path, each.name()], options)),
  ];
}

export const shells = ['bash', 'zsh'] as const;

/** Returns a script that completes the commands and options of `program` in a shell. */
export function completionScript(program: Command, shell: (typeof shells)[number]): string {
  const entries = entriesOf(program);
  switch (shell) {
    case 'bash':
      return bashScript(entries);
    case 'zsh':
      return zshScript(entries);
  }
}

const paths = (entries: Entry[]) =>
  entries
    .filter(({ path }) => path !== '')
    .map(({ path }) => quoted(path))
    .join('|');

function bashScript(entries: Entry[]): string {
  const cases = entries.map(
    ({ path, words, takesFiles }) =>
      `    ${quoted(path)}) words=${quoted(words.map(({ text }) => text).join(' '))}; files=${takesFiles ? 1 : 0} ;;`,
  );
  return `# Completion of cms for bash. Load it in ~/.bashrc: eval "$(cms completion bash)"
_cms() {
  local path= word words= files=0 current="\${COMP_WORDS[COMP_CWORD]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${paths(entries)}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ \${COMP_WORDS[COMP_CWORD-1]} == --* || $files == 1 ]] && [[ $current != -* ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -f -- "$current"))
  fi
}
complete -F _cms cms
`;
}

function zshScript(entries: Entry[]): string {
  const cases = entries.map(({ path, words, takesFiles }) => {
    const lines = words.map(({ text, description }) =>
      quoted(`${text}:${description.replaceAll(':', '\\:').replaceAll("'", '’')}`),
    );
    return `    ${quoted(path)}) words_of=(${lines.join(' ')}); files=${takesFiles ? 1 : 0} ;;`;
  });
  return `#compdef cms
# Completion of cms for zsh. Load it in ~/.zshrc after compinit: eval "$(cms completion zsh)"
_cms() {
  local path_of= word files=0
  local -a words_of
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${path_of:+$path_of }$word" in
      ${paths(entries)}) path_of="\${path_of:+$path_of }$word" ;;
    esac
  done
  case "$path_of" in
${cases.join('\n')}
  esac
  _describe -V 'cms' words_of
  if (( files )) || [[ "\${words[CURRENT-1]}" == --* ]]; then _files; fi
}
if [ "$funcstack[1]" = "_cms" ]; then _cms "$@"; else compdef _cms cms; fi
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
