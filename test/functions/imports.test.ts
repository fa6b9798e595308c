import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { functionNames } from '../../infra/bundles/function-names.ts';

const { stdout, stderr } = spawnSync(process.execPath, [fileURLToPath(new URL('./import-functions.ts', import.meta.url))], {
  encoding: 'utf8',
  env: {},
});

/** The AWS SDK's own look at which Lambda it is in, which no caller can keep it from. */
const isOfSdk = (line: string) => /^reads AWS_LAMBDA_\w+ at .*node_modules\/@aws\/lambda-invoke-store\//.test(line);

describe('the import of a function', () => {
  const found = (stdout === '' ? {} : JSON.parse(stdout)) as Record<string, string[]>;

  it('is tried for every function that is deployed', () => {
    expect(Object.keys(found), stderr).toEqual(functionNames.map((name) => `${name}.ts`).sort());
  });

  it.each(functionNames)('calls nobody, reads no environment and starts nothing: %s', (name) => {
    expect(found[`${name}.ts`]?.filter((line) => !isOfSdk(line))).toEqual([]);
  });
});
