import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ESLint, Linter } from 'eslint';
import { parser } from 'typescript-eslint';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const eslint = new ESLint({ cwd: root });

const configOf = async (file: string) => (await eslint.calculateConfigForFile(join(root, file))) as Required<Linter.Config>;

/** Returns the messages of the rules that keep code in its place, for a file that contains `code`. */
async function messagesFor(file: string, code: string): Promise<string[]> {
  const { plugins, rules } = await configOf(file);
  const own = ['no-restricted-syntax', 'folders/imports', 'rooms/order'].filter((name) => name in rules);
  const messages = new Linter({ cwd: root }).verify(
    code,
    {
      files: ['**/*.ts'],
      languageOptions: { parser },
      plugins: Object.fromEntries(Object.entries(plugins).filter(([name]) => ['folders', 'rooms'].includes(name))),
      rules: Object.fromEntries(own.map((name) => [name, rules[name]])),
    },
    join(root, file),
  );
  return messages.map(({ message }) => message);
}

const anyRoom = 'shared/computations/any.ts';
const keyToWrite = "import { keyToWrite as k } from '../table/keys.ts';";
const deleteScanned = "import { deleteScanned } from '../table/writes.ts';";

describe('lint refuses', () => {
  it.each([
    ['keyToWrite outside the writers of rows', anyRoom, keyToWrite],
    ['keyToWrite in the removal of a domain', 'shared/deletion/remove-domain.ts', keyToWrite],
    ['deleteScanned outside the removal of a domain', anyRoom, deleteScanned],
    ['deleteScanned in a writer of rows', 'shared/runs/change-run.ts', deleteScanned],
    ['the whole module of keys', anyRoom, "import * as keys from '../table/keys.ts';"],
    ['the whole module of keys in its own folder', 'shared/table/any.ts', "export * from './keys.ts';"],
    ['the whole module of writes', 'infra/local/any.ts', "import * as writes from '../../shared/table/writes.ts';"],
    ['a write of the SDK in a room', anyRoom, "import { UpdateCommand } from '@aws-sdk/lib-dynamodb';"],
    ['a write of the SDK in a function', 'functions/runs/any.ts', "import { PutItemCommand } from '@aws-sdk/client-dynamodb';"],
    [
      'a write of the SDK in infra/',
      'infra/local/any.ts',
      "import { TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';",
    ],
    ['a write of the SDK in the command line', 'client/cms/any.ts', "import { DeleteCommand } from '@aws-sdk/lib-dynamodb';"],
    ['a write of the SDK in the demonstration', 'demo/any.ts', "import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';"],
    ['PartiQL', anyRoom, "import { ExecuteStatementCommand } from '@aws-sdk/lib-dynamodb';"],
    ['PartiQL in a batch', anyRoom, "import { BatchExecuteStatementCommand } from '@aws-sdk/lib-dynamodb';"],
    ['PartiQL in a transaction', anyRoom, "import { ExecuteTransactionCommand } from '@aws-sdk/lib-dynamodb';"],
    ['a client that has all commands', anyRoom, "import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';"],
    ['the whole SDK of the table', anyRoom, "import * as sdk from '@aws-sdk/client-dynamodb';"],
    ['a key that is put together', anyRoom, 'export const at = (pk: string, sk: string) => ({ pk, sk });'],
    ['a key that is put together in infra/', 'infra/local/any.ts', 'export const at = (pk: string, sk: string) => ({ pk, sk });'],
    ['a literal of a key in infra/', 'infra/local/any.ts', 'export const pk = "computation#1";'],
    ['a test in a production file', 'infra/any.ts', "import '../test/support/world.ts';"],
    ['the service in the command line', 'client/cms/any.ts', "import '../../functions/runs/get-run.ts';"],
    ['the service in the library', 'client/any.ts', "import '../shared/errors.ts';"],
    ['the rooms in the demonstration', 'demo/any.ts', "import '../shared/errors.ts';"],
    ['functions in the documents', 'docs/any.ts', "import '../functions/runs/get-run.ts';"],
    ['a file that the client does not export in the console', 'console/any.ts', "import '../client/find-rows.ts';"],
    ['the client in a function', 'functions/runs/any.ts', "import '../../client/index.ts';"],
    ['a later room in an earlier one', anyRoom, "import '../runs/claim.ts';"],
  ])('%s', async (_what, file, code) => {
    expect(await messagesFor(file, code)).toHaveLength(1);
  });
});

describe('lint accepts', () => {
  it.each([
    ['keyToWrite in a writer of rows', 'shared/runs/change-run.ts', keyToWrite],
    ['deleteScanned in the removal of a domain', 'shared/deletion/remove-domain.ts', deleteScanned],
    ['a write of the SDK in shared/table/', 'shared/table/any.ts', "import { UpdateCommand } from '@aws-sdk/lib-dynamodb';"],
    ['reads of the SDK', anyRoom, "import { GetCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';"],
    ['the schema of a stored key', anyRoom, 'export const stored = (v: any) => v.object({ pk: v.string(), sk: v.string() });'],
    ['the entry of the client in the console', 'console/any.ts', "import '../client/index.ts';"],
    ['the verifier in the command line', 'client/cms/any.ts', "import '../../verify/verify.ts';"],
  ])('%s', async (_what, file, code) => {
    expect(await messagesFor(file, code)).toEqual([]);
  });
});

describe('the table of folders in CONTRIBUTING.md', () => {
  it('names what lint lets each folder import', async () => {
    const [, mayImport] = (await configOf('docs/any.ts')).rules['folders/imports'] as [string, Record<string, string[]>];
    const rows = [...readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').matchAll(/^\| `([a-z/-]+)\/` +\|.*\|([^|]*)\|$/gm)];
    const inDocument = rows.flatMap(([, folder = '', last = '']): [string, string[]][] =>
      last.includes('everything')
        ? []
        : [[folder, [...last.matchAll(/`([a-z/-]+?|client\/index\.ts)\/?`/g)].map(([, name = '']) => name)]],
    );
    expect(Object.fromEntries(inDocument)).toMatchObject(mayImport);
  });
});
