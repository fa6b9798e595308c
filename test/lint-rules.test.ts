import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ESLint, Linter } from 'eslint';
import { parser } from 'typescript-eslint';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const eslint = new ESLint({ cwd: root });

/** Returns the errors by the rules that this project has set, for a file that contains `code`. */
async function errorsFor(file: string, code: string): Promise<string[]> {
  const { linterOptions, plugins, rules } = (await eslint.calculateConfigForFile(join(root, file))) as Required<Linter.Config>;
  const all = ['no-restricted-syntax', 'no-restricted-imports', 'max-params', 'house/doc-comments'];
  const own = all.filter((name) => name in rules);
  const messages = new Linter({ cwd: root }).verify(
    code,
    {
      files: ['**/*.ts'],
      languageOptions: { parser },
      linterOptions,
      plugins: { house: plugins['house'] ?? {} },
      rules: Object.fromEntries(own.map((name) => [name, rules[name]])),
    },
    join(root, file),
  );
  return messages.filter(({ severity }) => severity === 2).map(({ message }) => message);
}

const anyRoom = 'shared/computations/any.ts';
const updateCommand = "import { UpdateCommand } from '@aws-sdk/lib-dynamodb';";

describe('lint refuses', () => {
  it.each([
    ['a write of the SDK in a room', anyRoom, updateCommand],
    ['a write of the SDK next to the files that write', 'shared/table/any.ts', updateCommand],
    [
      'a write of the SDK after a comment for lint',
      anyRoom,
      `// eslint-disable-next-line no-restricted-syntax\n${updateCommand}`,
    ],
    ['a write of the SDK in a function', 'functions/runs/any.ts', "import { PutItemCommand } from '@aws-sdk/client-dynamodb';"],
    ['a write of the SDK in local/', 'local/any.ts', "import { TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';"],
    ['a write of the SDK in the command line', 'packages/cms/any.ts', "import { DeleteCommand } from '@aws-sdk/lib-dynamodb';"],
    ['PartiQL', anyRoom, "import { ExecuteStatementCommand } from '@aws-sdk/lib-dynamodb';"],
    ['PartiQL in a batch', anyRoom, "import { BatchExecuteStatementCommand } from '@aws-sdk/lib-dynamodb';"],
    ['PartiQL in a transaction', anyRoom, "import { ExecuteTransactionCommand } from '@aws-sdk/lib-dynamodb';"],
    ['a client that has all commands', anyRoom, "import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';"],
    ['the whole SDK of the table', anyRoom, "import * as sdk from '@aws-sdk/client-dynamodb';"],
    ['the default export of the SDK', anyRoom, "import sdk from '@aws-sdk/lib-dynamodb';"],
    ['the SDK of the table when it is needed', 'local/any.ts', "export const sdk = import('@aws-sdk/lib-dynamodb');"],
    ['a literal of a key outside the files of keys', 'local/any.ts', 'export const pk = "computation#1";'],
    ['the key of a row outside its writer', anyRoom, "import { keyToWrite } from '../table/keys.ts';"],
    ['a cast to a key', 'shared/rows/claim.ts', 'export const key = given as Key;'],
    ['the spread of an object literal', anyRoom, 'export const both = { ...{ a: 1 } };'],
    ['the spread of an object literal in a test', 'test/any.ts', 'export const both = { ...{ a: 1 } };'],
    ['a doc comment that begins with a preposition', 'test/any.ts', '/** Of a run. */\nexport const a = 1;'],
    ['a doc comment that begins with a conjunction', anyRoom, '/**\n * If it is there.\n */\nexport const a = 1;'],
    ['more than five parameters', anyRoom, 'export const sum = (a, b, c, d, e, f) => a + b + c + d + e + f;'],
  ])('%s', async (_what, file, code) => {
    expect(await errorsFor(file, code)).toHaveLength(1);
  });
});

describe('lint accepts', () => {
  it.each([
    ['a write of the SDK in the file of writes', 'shared/table/writes.ts', updateCommand],
    ['the key of a row in its writer', 'shared/rows/claim.ts', "import { keyToWrite } from '../table/keys.ts';"],
    ['a doc comment that begins with a verb', anyRoom, '/** Returns one of the runs. */\nexport const a = 1;'],
    ['reads of the SDK', anyRoom, "import { GetCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';"],
  ])('%s', async (_what, file, code) => {
    expect(await errorsFor(file, code)).toEqual([]);
  });
});

/** Files by their paths, each with what it imports. */
const house: Record<string, string[]> = {
  'shared/rooms/a.ts': ['./b.ts'],
  'shared/rooms/b.ts': ['./a.ts'],
  'shared/one/a.ts': ['../other/a.ts'],
  'shared/one/b.ts': [],
  'shared/other/a.ts': ['../one/b.ts'],
  'functions/runs/a.ts': ['../keys/a.ts', '../../shared/one/b.ts'],
  'functions/keys/a.ts': [],
  'gateway/a.ts': ['../packages/client/index.ts', '../shared/one/b.ts'],
  'infra/a.ts': ['../local/a.ts'],
  'local/a.ts': ['../packages/client/index.ts', '../test/support/a.ts'],
  'packages/client/index.ts': ['node:fs'],
  'packages/client/hidden.ts': ['../../shared/one/b.ts'],
  'packages/console/a.ts': ['../client/index.ts', '../client/hidden.ts'],
  'test/support/a.ts': ['../../local/a.ts'],
};

describe('the rules of folders', () => {
  it('name each import that they refuse, types included, and no other', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'house-'));
    for (const [file, imports] of Object.entries(house)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      const lines = imports.map(
        (path, index) => `import type * as i${index} from '${path}';\nexport type T${index} = typeof i${index};`,
      );
      writeFileSync(join(folder, file), `${lines.join('\n')}\nexport const own = 1;\n`);
    }
    writeFileSync(join(folder, 'tsconfig.json'), '{}');
    const cruiser = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
    const folders = [...new Set(Object.keys(house).map((file) => file.split('/')[0] ?? ''))];
    const args = [cruiser, '--config', join(root, '.dependency-cruiser.js'), '--output-type', 'json', ...folders];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 24 });
    const { violations } = (
      JSON.parse(stdout) as { summary: { violations: { from: string; to: string; rule: { name: string } }[] } }
    ).summary;
    rmSync(folder, { recursive: true });
    expect([...new Set(violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`))].sort()).toEqual([
      'functions-apart: functions/runs/a.ts -> functions/keys/a.ts',
      'imports-of-gateway: gateway/a.ts -> packages/client/index.ts',
      'imports-of-infra: infra/a.ts -> local/a.ts',
      'imports-of-local: local/a.ts -> test/support/a.ts',
      'imports-of-packages-client: packages/client/hidden.ts -> shared/one/b.ts',
      'imports-of-packages-console: packages/console/a.ts -> packages/client/hidden.ts',
      'loads-in-browsers: packages/client/index.ts -> fs',
      'no-circle-of-files: local/a.ts -> test/support/a.ts',
      'no-circle-of-files: shared/rooms/a.ts -> shared/rooms/b.ts',
      'no-circle-of-folders: local -> test/support',
      'no-circle-of-folders: shared/one -> shared/other',
      'no-circle-of-folders: shared/other -> shared/one',
    ]);
  });
});
