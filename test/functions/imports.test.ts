import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { functionNames } from '../../infra/service/service-function.ts';

const { stdout, stderr } = spawnSync(process.execPath, [fileURLToPath(new URL('./import-functions.ts', import.meta.url))], {
  encoding: 'utf8',
  env: {},
});

/** Tells whether a side effect is that of the AWS SDK, which reads variables to detect Lambda. No caller can prevent it. */
const isOfSdk = (line: string) => /^reads AWS_LAMBDA_\w+ at .*node_modules\/@aws\/lambda-invoke-store\//.test(line);

describe('the import of a function', () => {
  const found = (stdout === '' ? {} : JSON.parse(stdout)) as Record<string, string[]>;

  it('is tested for every deployed function', () => {
    expect(Object.keys(found), stderr).toEqual(functionNames.map((name) => `${name}.ts`).sort());
  });

  it.each(functionNames)('makes no call, reads no environment variable and starts nothing: %s', (name) => {
    expect(found[`${name}.ts`]?.filter((line) => !isOfSdk(line))).toEqual([]);
  });
});
