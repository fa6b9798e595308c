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
  /** Changes with this test and with the sources, which decide what it reaches. */
  hashFor: (test: string) => string;
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
  const hashOfAll = (some: string[]) => hash(some.map((file) => `${file} ${hash(textOf(file))}`).join('\n'));
  const hashOfSources = hashOfAll(tested.filter((file) => !file.startsWith('test/')));
  return {
    root,
    textOf,
    hashOf: (file) => (existsSync(join(root, file)) ? hash(textOf(file)) : undefined),
    hash: hashOfAll(tested),
    hashFor: (test) => hash(`${hashOfSources}\n${test} ${hash(textOf(test))}`),
  };
}
