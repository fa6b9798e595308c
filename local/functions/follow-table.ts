import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { listOfEntry } from 'computation-management-counted-list';
import { namedRowAt } from '../../shared/find/index-names.ts';
import type { TableClient } from '../../shared/table/table.ts';
import type { InvokeFunction } from './local-functions.ts';

/** As on AWS, where a batch of the stream waits so long for further records. */
const batchingInMilliseconds = 1_000;

interface Key {
  pk: string;
  sk: string;
}

/**
 * Calls the function that follows the table's stream, in place of a stream, which the engine has not: for each list and each named row with a
 * change, a second later and not while an earlier call for it is at work. Sees what this client writes.
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
  const startWaiting = () => {
    for (const [list, key] of waiting) {
      if (running.has(list)) continue;
      waiting.delete(list);
      start(list, key);
    }
  };
  const timer = setInterval(startWaiting, batchingInMilliseconds);
  document.middlewareStack.add(
    (next, { commandName }) =>
      async (call) => {
        const answer = await next(call);
        if (String(commandName).startsWith('TransactWrite') && !isStopped) {
          for (const key of keysIn(call.input as TransactWriteCommandInput)) {
            const what = listOfEntry(key) ?? (namedRowAt(key) && `${key.pk} ${key.sk}`);
            if (what !== undefined) waiting.set(what, key);
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
    startWaiting(); // nothing else would index a name
    await Promise.all(running.values());
  };
}

function keysIn({ TransactItems = [] }: TransactWriteCommandInput): Key[] {
  return TransactItems.flatMap(({ Put, Update, Delete }) => {
    const key = Put?.Item ?? Update?.Key ?? Delete?.Key;
    return key ? [{ pk: String(key['pk']), sk: String(key['sk']) }] : [];
  });
}
