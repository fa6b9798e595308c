import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');

/** Returns what a source and the types that it imports from other sources import from packages. */
function packagesOfTypes(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const { statements } = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  return statements.flatMap((statement) => {
    const isFollowed = ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement);
    const { text } = (isFollowed && statement.moduleSpecifier ? statement.moduleSpecifier : { text: '' }) as { text: string };
    if (text === '') return [];
    return text.startsWith('.') ? packagesOfTypes(join(dirname(file), text), seen) : [text];
  });
}

it('describes a stage by types that need nothing but the CDK', () => {
  const packages = packagesOfTypes(join(root, 'infra/stages/stage.ts'));
  expect(packages.filter((name) => !name.startsWith('aws-cdk-lib'))).toEqual([]);
});
