import { join } from 'node:path';
import { ESLint, Linter } from 'eslint';
import { parser } from 'typescript-eslint';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const eslint = new ESLint({ cwd: root });

const configOf = async (file: string) => (await eslint.calculateConfigForFile(join(root, file))) as Required<Linter.Config>;

const ownRules = ['no-restricted-syntax', 'no-restricted-imports', 'max-params', 'folders/imports', 'rooms/order'];

/** Returns the errors by the rules that this project has made or set, for a file that contains `code`. */
async function errorsFor(file: string, code: string): Promise<string[]> {
  const { linterOptions, plugins, rules } = await configOf(file);
  const own = ownRules.filter((name) => name in rules);
  const messages = new Linter({ cwd: root }).verify(
    code,
    {
      files: ['**/*.ts'],
      languageOptions: { parser },
      linterOptions,
      plugins: Object.fromEntries(Object.entries(plugins).filter(([name]) => ['folders', 'rooms'].includes(name))),
      rules: Object.fromEntries(own.map((name) => [name, rules[name]])),
    },
    join(root, file),
  );
  return messages.filter(({ severity }) => severity === 2).map(({ message }) => message);
}

const anyRoom = 'shared/computations/any.ts';
const keyToWrite = "import { keyToWrite as k } from '../table/keys.ts';";
const deleteScanned = "import { deleteScanned } from '../table/writes.ts';";
const updateCommand = "import { UpdateCommand } from '@aws-sdk/lib-dynamodb';";

describe('lint refuses', () => {
  it.each([
    ['keyToWrite outside the writers of rows', anyRoom, keyToWrite],
    ['keyToWrite in the removal of a domain', 'shared/deletion/remove-domain.ts', keyToWrite],
    ['deleteScanned outside the removal of a domain', anyRoom, deleteScanned],
    ['deleteScanned in a writer of rows', 'shared/runs/change-run.ts', deleteScanned],
    ['the whole module of keys', anyRoom, "import * as keys from '../table/keys.ts';"],
    ['the whole module of keys in its own folder', 'shared/table/any.ts', "export * from './keys.ts';"],
    ['the whole module of writes', 'local/any.ts', "import * as writes from '../shared/table/writes.ts';"],
    ['a write of the SDK in a room', anyRoom, updateCommand],
    ['a write of the SDK next to the files that write', 'shared/table/any.ts', updateCommand],
    [
      'a write of the SDK after a comment for lint',
      anyRoom,
      `// eslint-disable-next-line no-restricted-syntax\n${updateCommand}`,
    ],
    ['a write of the SDK in a function', 'functions/runs/any.ts', "import { PutItemCommand } from '@aws-sdk/client-dynamodb';"],
    ['a write of the SDK in infra/', 'local/any.ts', "import { TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';"],
    ['a write of the SDK in the command line', 'packages/cms/any.ts', "import { DeleteCommand } from '@aws-sdk/lib-dynamodb';"],
    [
      'a write of the SDK in the demonstration',
      'tools/demo/any.ts',
      "import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';",
    ],
    ['PartiQL', anyRoom, "import { ExecuteStatementCommand } from '@aws-sdk/lib-dynamodb';"],
    ['PartiQL in a batch', anyRoom, "import { BatchExecuteStatementCommand } from '@aws-sdk/lib-dynamodb';"],
    ['PartiQL in a transaction', anyRoom, "import { ExecuteTransactionCommand } from '@aws-sdk/lib-dynamodb';"],
    ['a client that has all commands', anyRoom, "import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';"],
    ['the whole SDK of the table', anyRoom, "import * as sdk from '@aws-sdk/client-dynamodb';"],
    ['the default export of the SDK', anyRoom, "import sdk from '@aws-sdk/lib-dynamodb';"],
    ['the default export of the SDK by its name', anyRoom, "import { default as sdk } from '@aws-sdk/lib-dynamodb';"],
    ['the SDK of the table when it is needed', 'local/any.ts', "export const sdk = import('@aws-sdk/lib-dynamodb');"],
    ['the keys when they are needed', 'local/any.ts', "export const keys = import('../shared/table/keys.ts');"],
    ['a cast to a key', anyRoom, 'export const at = (key: AnyKey) => key as Key;'],
    ['a cast to a key in infra/', 'local/any.ts', 'export const at = (key: AnyKey) => key as unknown as Key;'],
    ['a cast to an item with a key', anyRoom, 'export const at = (item: Item) => item as Item & Key;'],
    ['another place in a key', anyRoom, 'export const at = (key: Key, sk: string) => ({ ...key, sk });'],
    ['another place in a key in quotes', anyRoom, "export const at = (key: Key, pk: string) => ({ ...key, ['pk']: pk });"],
    ['a literal of a key in infra/', 'local/any.ts', 'export const pk = "computation#1";'],
    ['a test in a production file', 'infra/any.ts', "import '../test/support/world.ts';"],
    ['the service in the command line', 'packages/cms/any.ts', "import '../../functions/runs/get-run.ts';"],
    ['the service in the library', 'packages/client/any.ts', "import '../../shared/errors.ts';"],
    ['the rooms in the demonstration', 'tools/demo/any.ts', "import '../../shared/errors.ts';"],
    ['functions in the documents', 'tools/docs/any.ts', "import '../../functions/runs/get-run.ts';"],
    ['a file that the client does not export in the console', 'packages/console/any.ts', "import '../client/find-rows.ts';"],
    ['the client in the gateway', 'gateway/any.ts', "import '../packages/client/index.ts';"],
    ['a function in another one', 'functions/runs/any.ts', "import '../assets/get-asset.ts';"],
    ['a later room in an earlier one', anyRoom, "import '../runs/claim.ts';"],
    ['a type of a later room', anyRoom, "import type { Claim } from '../runs/claim.ts';"],
    ['a type of a later room without an import', anyRoom, "export type Claim = import('../runs/claim.ts').Claim;"],
    ['the export of a name of a later room', anyRoom, "export { readClaim } from '../runs/claim.ts';"],
    ['the export of a file of a later room', anyRoom, "export * from '../runs/claim.ts';"],
    ['a room without a place', anyRoom, "import '../unplaced/any.ts';"],
    ['an earlier room in one without a place', 'shared/unplaced/any.ts', "import '../errors.ts';"],
    ['the spread of an object literal', anyRoom, 'export const both = { ...{ a: 1 } };'],
    ['the spread of an object literal in a test', 'test/any.ts', 'export const both = { ...{ a: 1 } };'],
    ['more than five parameters', anyRoom, 'export const sum = (a, b, c, d, e, f) => a + b + c + d + e + f;'],
  ])('%s', async (_what, file, code) => {
    expect(await errorsFor(file, code)).toHaveLength(1);
  });
});

describe('lint accepts', () => {
  it.each([
    ['keyToWrite in a writer of rows', 'shared/runs/change-run.ts', keyToWrite],
    ['deleteScanned in the removal of a domain', 'shared/deletion/remove-domain.ts', deleteScanned],
    ['a write of the SDK in the file of writes', 'shared/table/writes.ts', updateCommand],
    ['reads of the SDK', anyRoom, "import { GetCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';"],
    ['a cast to a key where keys are made', 'shared/table/keys.ts', 'export const at = (key: AnyKey) => key as Key;'],
    ['the entry of the client in the console', 'packages/console/any.ts', "import 'computation-management-client';"],
    ['the verifier in the command line', 'packages/cms/any.ts', "import 'computation-management-verify';"],
  ])('%s', async (_what, file, code) => {
    expect(await errorsFor(file, code)).toEqual([]);
  });
});
