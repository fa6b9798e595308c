import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { listOfEntry } from 'computation-management-counted-list';
import type { TableClient } from '../../shared/table/table.ts';
import type { InvokeFunction } from './local-functions.ts';

/** As on AWS, where a batch of the stream waits so long for further records. */
const batchingInMilliseconds = 1_000;

interface Key {
  pk: string;
  sk: string;
}

/**
 * Calls the function that follows the table's stream, in place of a stream, which the engine has not: for each list with a change, a
 * second later and not while an earlier call for it is at work. Sees what this client writes.
 * @returns what ends it
 */
export function followTable(document: Pick<TableClient, 'middlewareStack'>, invoke: InvokeFunction): () => Promise<void> {
  const waiting = new Map<string, Key>();
  const running = new Map<string, Promise<unknown>>();
  let isStopped = false;
  const start = (list: string, { pk, sk }: Key) => {
    const batch = { Records: [{ dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } }] };
    // A list that is not folded now is marked, and the schedule will.
    const call = invoke('maintenance/follow-table', batch).catch(() => undefined);
    running.set(
      list,
      call.finally(() => running.delete(list)),
    );
  };
  const timer = setInterval(() => {
    for (const [list, key] of waiting) {
      if (running.has(list)) continue;
      waiting.delete(list);
      start(list, key);
    }
  }, batchingInMilliseconds);
  document.middlewareStack.add(
    (next, { commandName }) =>
      async (call) => {
        const answer = await next(call);
        if (String(commandName).startsWith('TransactWrite') && !isStopped) {
          for (const key of keysIn(call.input as TransactWriteCommandInput)) {
            const list = listOfEntry(key);
            if (list !== undefined) waiting.set(list, key);
          }
        }
        return answer;
      },
    { name: 'followTable', override: true, step: 'initialize', priority: 'high' },
  );
  return async () => {
    isStopped = true;
    clearInterval(timer);
    await Promise.all(running.values());
  };
}

function keysIn({ TransactItems = [] }: TransactWriteCommandInput): Key[] {
  return TransactItems.flatMap(({ Update }) =>
    Update?.Key ? [{ pk: String(Update.Key['pk']), sk: String(Update.Key['sk']) }] : [],
  );
}
