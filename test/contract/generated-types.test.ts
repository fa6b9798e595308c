import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openapiDocument } from '../../shared/openapi/openapi-document.ts';

const folder = mkdtempSync(join(tmpdir(), 'generated-types-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A program that uses the types as a client does. Each line that must not compile says so. */
const uses = `
import type { components, operations } from './api.ts';

type Body<O extends keyof operations> = operations[O]['responses'] extends { 200: { content: { 'application/json': infer B } } } ? B : never;

export const reasonOf = (computation: Body<'getComputation'>): string | null | undefined => computation.run?.reason;
export const namesOf = (page: Body<'listComputations'>): string[] => page.computations.map(({ name }) => name);
export const runId: Body<'startRun'> = '00000000-002a-8b1f-9c3d-6f1a2b3c4d5e';
export const minimal: components['schemas']['ComputationInput'] = { name: 'x' };
export function isBusy(problem: components['schemas']['Problem']): string | undefined {
  // @ts-expect-error there is no such reason
  if (problem.reason === 'no_such_reason') return undefined;
  return problem.reason === 'cvm_busy' || problem.reason === 'run_active' ? problem.run_id : undefined;
}
// @ts-expect-error the domain stands in the path alone
export const twice: NonNullable<operations['listComputations']['parameters']['query']> = { domainID: 'd1' };
`;

/** Runs a program of a package that is installed here. */
function run(program: string, args: string[], input = '') {
  const file = join(import.meta.dirname, '../../node_modules', program);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], { input, encoding: 'utf8' });
  return { status, stdout, stderr };
}

it('the OpenAPI document is valid OpenAPI 3.1 and follows Redocly’s recommended rules, and its types fit what a client does', () => {
  const rules = join(import.meta.dirname, 'redocly.yaml');
  const document = JSON.stringify(openapiDocument('1.2.3'));
  const generator = ['--redocly', rules, '--default-non-nullable', 'false'];
  const { stdout: types, ...generated } = run('openapi-typescript/bin/cli.js', generator, document);
  expect(generated).toEqual({ stderr: '', status: 0 });

  writeFileSync(join(folder, 'api.ts'), types);
  writeFileSync(join(folder, 'uses.ts'), uses);
  const strictest = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--allowImportingTsExtensions'];
  const language = ['--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024', '--types', ''];
  const compiler = ['--noEmit', '--ignoreConfig', ...strictest, ...language, join(folder, 'uses.ts')];
  expect(run('typescript-7/bin/tsc', compiler)).toEqual({ stdout: '', stderr: '', status: 0 });
});
