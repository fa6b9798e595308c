import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What an earlier run found out, kept with the installed packages, so that a run that was stopped resumes. */
export interface Cache<T> {
  get: (key: string) => T | undefined;
  set: (key: string, value: T) => void;
}

export function openCache<T>(root: string, name: string): Cache<T> {
  const file = join(root, 'node_modules/.cache/mutants', `${name}.json`);
  const known = read<T>(file);
  return {
    get: (key) => known[key],
    set: (key, value) => {
      known[key] = value;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(`${file}.new`, JSON.stringify(known));
      renameSync(`${file}.new`, file);
    },
  };
}

function read<T>(file: string): Record<string, T> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, T>;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
}
