import type { BatchGetCommandInput, BatchGetCommandOutput } from '@aws-sdk/lib-dynamodb';
import { onTestFinished } from 'vitest';
import type { AnyKey } from '../../shared/table/keys.ts';
import type { Table, Item } from '../../shared/table/table.ts';

const name = 'interleave';

/** @returns the stack of a table's client, which is as before when the test ends */
function stackOf({ document: { middlewareStack } }: Table) {
  onTestFinished(() => void middlewareStack.remove(name));
  return middlewareStack;
}

/** The next transaction through the table, a writing one by default, waits until `act` is done. */
export function beforeTheNextTransaction(
  table: Table,
  act: () => Promise<unknown>,
  kind: 'TransactWrite' | 'TransactGet' = 'TransactWrite',
): void {
  const middlewareStack = stackOf(table);
  middlewareStack.add(
    (next, { commandName }) =>
      async (sent) => {
        if (String(commandName).startsWith(kind) && middlewareStack.remove(name)) await act();
        return await next(sent);
      },
    { name, step: 'initialize' },
  );
}

/** Acts once after the next transaction that writes through the table, before its answer arrives. */
export function afterTheNextTransaction(table: Table, act: () => Promise<unknown>): void {
  const middlewareStack = stackOf(table);
  middlewareStack.add(
    (next, { commandName }) =>
      async (sent) => {
        const answer = await next(sent);
        if (String(commandName).startsWith('TransactWrite') && middlewareStack.remove(name)) await act();
        return answer;
      },
    { name, step: 'initialize' },
  );
}

type Read = 'Get' | 'BatchGet' | 'Query';

/**
 * Acts once between two reads that are under way together: `afterThis` is answered before `act`, and `beforeThat` is sent after it.
 */
export function betweenReads(table: Table, reads: { afterThis: Read; beforeThat: Read }, act: () => Promise<unknown>): void {
  const middlewareStack = stackOf(table);
  const answered = Promise.withResolvers<undefined>();
  let isHeld = false;
  middlewareStack.add(
    (next, { commandName }) =>
      async (sent) => {
        const isRead = (read: Read) => new RegExp(`^${read}(Item)?Command$`).test(String(commandName));
        if (isRead(reads.beforeThat) && !isHeld) {
          isHeld = true;
          await answered.promise;
          middlewareStack.remove(name);
          await act();
        }
        const answer = await next(sent);
        if (isRead(reads.afterThis)) answered.resolve(undefined);
        return answer;
      },
    { name, step: 'initialize' },
  );
}

/**
 * The next batch read that asks for `key` gets that item as it was before `act`, and the others as they are after it: DynamoDB
 * reads the items of a batch one by one. Once.
 */
export function asReadBefore(table: Table, key: AnyKey, act: () => Promise<unknown>): void {
  const middlewareStack = stackOf(table);
  const isKey = (item: Item) => item['pk'] === key.pk && item['sk'] === key.sk;
  middlewareStack.add(
    (next) => async (sent) => {
      const { RequestItems } = sent.input as BatchGetCommandInput;
      if (!RequestItems?.[table.name]?.Keys?.some(isKey)) return await next(sent);
      middlewareStack.remove(name);
      const { Responses: before } = (await next(sent)).output as BatchGetCommandOutput;
      await act();
      const answer = await next(sent);
      const output = answer.output as BatchGetCommandOutput;
      const others = (output.Responses?.[table.name] ?? []).filter((item) => !isKey(item));
      output.Responses = { [table.name]: [...others, ...(before?.[table.name] ?? []).filter(isKey)] };
      return answer;
    },
    { name, step: 'initialize' },
  );
}

/** The next call of this kind through the table waits until `act` is done. */
export function beforeCall(table: Table, call: Read | 'Update', act: () => Promise<unknown>): void {
  const middlewareStack = stackOf(table);
  middlewareStack.add(
    (next, { commandName }) =>
      async (sent) => {
        const isIt = new RegExp(`^${call}(Item)?Command$`).test(String(commandName));
        if (isIt && middlewareStack.remove(name)) await act();
        return await next(sent);
      },
    { name, step: 'initialize' },
  );
}

/** The next put of the item with this key through the table waits until `act` is done. */
export function beforePutOf(table: Table, { pk, sk }: AnyKey, act: () => Promise<unknown>): void {
  const middlewareStack = stackOf(table);
  middlewareStack.add(
    (next) => async (sent) => {
      const { Item: item } = sent.input as { Item?: Item };
      if (item?.['pk'] === pk && item['sk'] === sk && middlewareStack.remove(name)) await act();
      return await next(sent);
    },
    { name, step: 'initialize' },
  );
}
