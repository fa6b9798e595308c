import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acceptedMutants } from './accepted-mutants.ts';
import { coreFiles } from './core-files.ts';
import { findNamed } from './find-named.ts';
import { applyTo, isNamed, nameOf } from './mutant.ts';
import { namedMutants } from './named-mutants.ts';
import { mutantsOf } from './operators.ts';
import { readSourceTree } from './source-tree.ts';

const { root, textOf } = readSourceTree(resolve(import.meta.dirname, '../..'));
const files = coreFiles(root);

describe('findNamed', () => {
  it('finds every named mutant in the core as it is today', () => {
    const { found, lost } = findNamed((file) => (files.includes(file) ? textOf(file) : undefined));
    expect(lost).toEqual([]);
    expect(found).toHaveLength(namedMutants.length);
    for (const mutant of found) expect(applyTo(textOf(mutant.file), mutant)).not.toBe(textOf(mutant.file));
  });

  it('says which named mutants are lost where a file is gone or the code stands there twice', () => {
    expect(findNamed(() => undefined).lost).toHaveLength(namedMutants.length);
    const twice = findNamed((file) => `${textOf(file)}\n${textOf(file)}`);
    expect(twice.found).toEqual([]);
    expect(twice.lost[0]).toContain('stands there 2 times');
  });
});

describe('acceptedMutants', () => {
  it('names only mutants of the core as it is today', () => {
    const made = new Map([...new Set(acceptedMutants.map(({ file }) => file))].map((file) => [file, namesOf(file)]));
    const lost = acceptedMutants.filter((accepted) => !made.get(accepted.file)?.some((name) => isNamed(accepted, name)));
    expect(lost).toEqual([]);
  });

  function namesOf(file: string) {
    return files.includes(file) ? mutantsOf(file, textOf(file)).map((mutant) => nameOf(mutant, textOf(file))) : [];
  }
});
