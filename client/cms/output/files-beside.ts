import { dirname } from 'node:path';
import { shellWord } from './shell-word.ts';

/** Returns the command that lists the files beside a file. */
export function filesBeside(file: string): string {
  return `ls ${shellWord(dirname(file))}`;
}
