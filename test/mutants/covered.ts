import { join } from 'node:path/posix';

/** The folder of the repository, or of its copy. */
export const root = join(import.meta.dirname, '../..');

/** The parts of the sources that one file of tests runs, and how long it takes. */
export interface Coverage {
  test: string;
  seconds: number;
  /** The places in each source at which what runs begins and ends, in turns. */
  files: Record<string, number[]>;
}

/** Returns whether a file, by its path from the root, is a source that is mutated. */
export function isMutated(file: string): boolean {
  return /^(shared|gateway|local|packages\/(?!console|cms|client\/generated))\/?.*\.ts$/.test(file) && !file.includes('/dist/');
}
