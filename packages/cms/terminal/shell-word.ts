import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

/** Quotes a word for a shell, unless it needs none. */
export function shellWord(text: string): string {
  return /^[\w./-][\w./:@%+,=-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** As `shellWord`, for a path, with `~` for the home of the user. */
export function shellPath(path: string, home: string): string {
  return path.startsWith(`${home}/`) ? `~/${shellWord(path.slice(home.length + 1))}` : shellWord(path);
}

/** Returns the command line that was typed, without the token and passwords in it: an error may end up in a log. */
export function commandLine(args: readonly string[]): string {
  const words = args.map((arg, index) => {
    if (args[index - 1] === '--token') return 'TOKEN';
    return arg.startsWith('--token=') ? '--token=TOKEN' : shellWord(arg.replace(/\/\/[^/]*@/, '//'));
  });
  return ['cms', ...words].join(' ');
}

/** Returns the command that lists the files beside a file, or those in the nearest folder above it that is there. */
export function filesBeside(file: string): string {
  let folder = dirname(file);
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  return `ls ${shellWord(folder)}`;
}

/** Explains why a file cannot be read. */
export function whyUnreadable(file: string, error: unknown): string {
  const name = JSON.stringify(file);
  if (isMissing(error)) return `There is no file ${name}.`;
  return `Cannot read ${name}: ${error instanceof Error ? error.message : String(error)}`;
}

/** Whether there is no file of the name. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
