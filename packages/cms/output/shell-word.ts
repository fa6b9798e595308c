/** Quotes a word for a shell, unless it needs none. */
export function shellWord(text: string): string {
  return /^[\w./-][\w./:@%+,=-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** As `shellWord`, for a path, with `~` for the home of the user. */
export function shellPath(path: string, home: string): string {
  return path.startsWith(`${home}/`) ? `~/${shellWord(path.slice(home.length + 1))}` : shellWord(path);
}

/** Returns the command line that was typed, without the token in it: an error may end up in a log. */
export function commandLine(args: readonly string[]): string {
  const words = args.map((arg, index) => {
    if (args[index - 1] === '--token') return 'TOKEN';
    return arg.startsWith('--token=') ? '--token=TOKEN' : shellWord(arg);
  });
  return ['cms', ...words].join(' ');
}
