import { Argument, type Command, type Option } from 'commander';
import { page } from 'computation-management-client';
import { printable } from 'computation-management-formats/printable';
import { listed } from '../context/find-by-name.ts';
import type { CmsCommand } from './options.ts';

/** Adds `cms completion`, which prints the completion script of a shell. */
export function addCompletionCommand(program: CmsCommand): void {
  addCompleteCommand(program);
  program
    .subcommand('completion', 'print a script that completes commands and options: eval "$(cms completion bash)"')
    .addArgument(new Argument('<SHELL>', 'the shell').choices(shells))
    .does(async ({ print }, shell: (typeof shells)[number]) => {
      const script = completionScript(program, shell);
      print({ shell, script }, () => script);
    });
}

/** Adds the hidden command that completion scripts run for names of computations, assets and CVMs. */
function addCompleteCommand(program: CmsCommand): void {
  program
    .command('complete', { hidden: true })
    .addArgument(new Argument('<KIND>').choices(['computation', 'asset', 'cvm']))
    .argument('[BEGINNING]')
    .does(async ({ connect, terminal }, kind: 'computation' | 'asset' | 'cvm', given: string | undefined) => {
      const beginning = given ?? '';
      const { client } = await connect();
      const range = { limit: 100, offset: 0 };
      const newest =
        kind === 'cvm'
          ? (await page(client, 'listCvms', range)).items.map(({ id }) => id)
          : (await listed(client, kind, range)).items.map(({ name }) => name);
      const found = beginning === '' ? [] : (await client.find({ q: beginning, kind, limit: 50 })).matches;
      const names = [...new Set([...newest, ...found.map(({ name }) => name)])];
      const offered = names.filter((name) => name.startsWith(beginning) && printable(name) === name);
      terminal.out(offered.map((name) => `${name}\n`).join(''));
    });
}

/** A command of `cms` with the words that may follow it, for the completion of a shell. */
interface Entry {
  /** The words of the command, such as `asset upload`. */
  path: string;
  offer: Offer;
  /** The words that may follow an option of the command, by the name of the option. */
  values: Map<string, Offer>;
}

/** The words that the completion of a shell offers at a place of the command line. */
interface Offer {
  words: { text: string; description: string }[];
  isFile: boolean;
  /** The kind of things whose names may follow, such as computations. Empty if no names may follow. */
  names: string;
}

/** Lists each command of `cms` with the words that may follow it, for the completion of a shell. */
function entriesOf(command: Command, path: string[] = [], inherited: readonly Option[] = []): Entry[] {
  const options = [...command.options, ...inherited];
  const subcommands = command.commands.filter((each) => !['help', 'complete'].includes(each.name()));
  const values = command.registeredArguments.map((argument) => valuesOf(argument, argument.name()));
  const words = [
    ...subcommands.map((each) => ({ text: each.name(), description: each.summary() || each.description() })),
    ...values.flatMap((each) => each.words),
    ...options.flatMap(({ long, description }) => (long ? [{ text: long, description }] : [])),
  ];
  const taking = options.flatMap((option) => (option.long && option.required ? [[option.long, option] as const] : []));
  return [
    {
      path: path.join(' '),
      offer: { words, isFile: values.some(({ isFile }) => isFile), names: values.find(({ names }) => names !== '')?.names ?? '' },
      values: new Map(taking.map(([long, option]) => [long, valuesOf(option, option.flags)])),
    },
    ...subcommands.flatMap((each) => entriesOf(each, [...path, each.name()], options)),
  ];
}

function valuesOf({ argChoices = [], description }: Argument | Option, placeholder: string): Offer {
  return {
    words: argChoices.map((text) => ({ text, description })),
    isFile: /FILE|DIR|PATH/.test(placeholder),
    names: /COMPUTATION|ASSET|CVM/.exec(placeholder)?.[0].toLowerCase() ?? '',
  };
}

const shells = ['bash', 'zsh'] as const;

/** Returns a script that completes the commands, options and their values of `program` in a shell. */
function completionScript(program: Command, shell: (typeof shells)[number]): string {
  const entries = entriesOf(program);
  switch (shell) {
    case 'bash':
      return bashScript(entries);
    case 'zsh':
      return zshScript(entries);
  }
}

/** Returns the paths of all commands, as a pattern of a shell. */
const paths = (entries: Entry[]) => pattern(entries.map(({ path }) => path).filter((path) => path !== ''));

/** Returns the options of all commands that take a value, as a pattern of a shell. */
const takingValues = (entries: Entry[]) => pattern([...new Set(entries.flatMap(({ values }) => [...values.keys()]))]);

const pattern = (texts: string[]) => texts.map(quoted).join('|');

/** Returns the cases of a shell's `case`: for each command, and for each of its options with known values. */
function casesOf(entries: Entry[], assign: (offer: Offer) => string): string {
  const offers = entries.flatMap(({ path, offer, values }): [string, Offer][] => [
    [`${path}:`, offer],
    ...[...values]
      .filter(([, { words, isFile, names }]) => words.length > 0 || isFile || names !== '')
      .map(([option, each]): [string, Offer] => [`${path}:${option}`, each]),
  ]);
  return offers
    .map(([place, offer]) => `    ${quoted(place)}) ${assign(offer)}; files=${offer.isFile ? 1 : 0}; names=${offer.names} ;;`)
    .join('\n');
}

function bashScript(entries: Entry[]): string {
  const assign = ({ words }: Offer) => `offered=${quoted(words.map(({ text }) => text).join(' '))}`;
  return `# Completion of cms for bash. Load it in ~/.bashrc: eval "$(cms completion bash)"
_cms() {
  local path= option= word offered= files=0 names= current="\${COMP_WORDS[COMP_CWORD]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word == = ]]; then continue; fi # bash divides --option=value
    if [[ $option ]]; then option=; continue; fi
    case "$word" in
      ${takingValues(entries)}) option="$word" ;;
    esac
    case "\${path:+$path }$word" in
      ${paths(entries)}) path="\${path:+$path }$word" ;;
    esac
  done
  if [[ $current == = ]]; then current=; fi
  case "$path:$option" in
${casesOf(entries, assign)}
  esac
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
  if [[ $files == 1 && $current != -* ]]; then
    compopt -o filenames 2>/dev/null
    current=\${current#[\\"\\']}
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "\${current//\\\\/}")
  fi
  if [[ $names && $current != -* ]]; then
    current=\${current#[\\"\\']}
    current=\${current//\\\\/}
    while IFS= read -r word; do COMPREPLY+=("$(printf %q "$word")"); done < <(cms complete $names \${current:+"$current"} 2>/dev/null)
  fi
}
complete -F _cms cms
`;
}

function zshScript(entries: Entry[]): string {
  const assign = ({ words }: Offer) => {
    const lines = words.map(({ text, description }) =>
      quoted(`${text}:${description.replaceAll(':', '\\:').replaceAll("'", '’')}`),
    );
    return `offered=(${lines.join(' ')})`;
  };
  return `#compdef cms
# Completion of cms for zsh. Load it in ~/.zshrc after compinit: eval "$(cms completion zsh)"
_cms() {
  local path_of= option= word files=0 names=
  local -a offered found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $option ]]; then option=; continue; fi
    case "$word" in
      ${takingValues(entries)}) option="$word" ;;
    esac
    case "\${path_of:+$path_of }$word" in
      ${paths(entries)}) path_of="\${path_of:+$path_of }$word" ;;
    esac
  done
  if [[ -z $option && "\${words[CURRENT]}" == --*=* ]]; then
    option="\${words[CURRENT]%%=*}"
    compset -P '*='
  fi
  case "$path_of:$option" in
${casesOf(entries, assign)}
  esac
  if (( $#offered )); then _describe -V 'cms' offered; fi
  if (( files )); then _files; fi
  if [[ -n $names && "\${words[CURRENT]}" != -* ]]; then
    found=("\${(@f)$(cms complete $names \${(Q)words[CURRENT]} 2>/dev/null)}")
    [[ -n $found ]] && compadd -- $found
  fi
}
if [ "$funcstack[1]" = "_cms" ]; then _cms "$@"; else compdef _cms cms; fi
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
