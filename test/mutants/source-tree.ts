import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hash } from './hash.ts';

/** The repository as it is when a run begins. */
export interface SourceTree {
  root: string;
  textOf: (file: string) => string;
  /** Undefined for a file that does not exist. */
  hashOf: (file: string) => string | undefined;
  /** Changes with any file that could change what a test finds. */
  hash: string;
}

export function readSourceTree(root: string): SourceTree {
  const texts = new Map<string, string>();
  const textOf = (file: string): string => {
    const text = texts.get(file) ?? readFileSync(join(root, file), 'utf8');
    texts.set(file, text);
    return text;
  };
  const files = globSync(['{shared,functions,infra,bench,test}/**/*.ts', 'package-lock.json'], { cwd: root }).sort();
  const tested = files.filter((file) => !file.startsWith('test/mutants/'));
  return {
    root,
    textOf,
    hashOf: (file) => (existsSync(join(root, file)) ? hash(textOf(file)) : undefined),
    hash: hash(tested.map((file) => `${file} ${hash(textOf(file))}`).join('\n')),
  };
}
