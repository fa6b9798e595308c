import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { afterAll, describe, expect, it } from 'vitest';
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

describe('the types that openapi-typescript generates', () => {
  it('compile in the strictest mode, and fit what a client does with them', async () => {
    const document = JSON.parse(JSON.stringify(openapiDocument('1.2.3'))) as Parameters<typeof openapiTS>[0];
    writeFileSync(join(folder, 'api.ts'), astToString(await openapiTS(document, { defaultNonNullable: false })));
    writeFileSync(join(folder, 'uses.ts'), uses);
    const program = ts.createProgram([join(folder, 'uses.ts'), join(folder, 'api.ts')], {
      strict: true,
      noEmit: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      allowImportingTsExtensions: true,
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2024,
      lib: ['lib.es2024.d.ts'],
      types: [],
    });
    const messages = ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
    expect(messages).toEqual([]);
  });
});
