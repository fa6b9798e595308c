import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acceptedMutants } from './accepted-mutants.ts';
import { coreFiles } from './core-files.ts';
import { findNamed } from './find-named.ts';
import { applyTo, isNamed, nameOf } from './mutant.ts';
import { namedMutants } from './named-mutants.ts';
import { mutantsOf } from './operators.ts';
import { unexplained } from './report.ts';
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

describe('unexplained', () => {
  it('names the survivors that have no accepted reason, and no others', () => {
    const text = 'a < b;\nc < d;\n';
    const [first, second] = ['a < b', 'c < d'].map((code) => mutantAt(text, code));
    const [accepted] = acceptedMutants;
    if (!first || !second || !accepted) throw new Error('There are three mutants.');
    const known = mutantsOf(accepted.file, textOf(accepted.file)).find((mutant) =>
      isNamed(accepted, nameOf(mutant, textOf(accepted.file))),
    );
    if (!known) throw new Error('The code of the accepted mutant is there.');
    const verdict = { tests: 1, ran: 1, seconds: 1 };
    const judged = [
      { mutant: first, text, verdict: { ...verdict, outcome: 'killed' as const } },
      { mutant: second, text, verdict: { ...verdict, outcome: 'survived' as const } },
      { mutant: known, text: textOf(accepted.file), verdict: { ...verdict, outcome: 'survived' as const } },
    ];
    expect(unexplained(judged)).toEqual(['a.ts:2']);
  });

  function mutantAt(text: string, code: string) {
    const start = text.indexOf(code);
    return mutantsOf('a.ts', text).find((mutant) => mutant.start >= start && mutant.end <= start + code.length);
  }
});
