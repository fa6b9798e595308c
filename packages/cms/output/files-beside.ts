import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { shellWord } from './shell-word.ts';

/** Returns the command that lists the files beside a file, or those in the nearest folder above it that is there. */
export function filesBeside(file: string): string {
  let folder = dirname(file);
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  return `ls ${shellWord(folder)}`;
}
