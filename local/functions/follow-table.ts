import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { listOfEntry } from 'computation-management-counted-list';
import { namedRowAt } from '../../shared/find/index.ts';
import type { TableClient } from '../../shared/table/table.ts';
import type { InvokeFunction } from './local-functions.ts';

/** As on AWS, where a batch of the stream waits so long for further records. */
const batchingInMilliseconds = 1_000;

interface Key {
  pk: string;
  sk: string;
}

/** A batch of the stream has at most so many records on AWS too. */
const mostNames = 1_000;
/** Where rows wait for each attempt: on AWS too, a call that fails is retried five times. */
const attempts = [1, 2, 3, 4, 5, 6].map((attempt) => `names ${attempt}`);
const [names = ''] = attempts;

/**
 * Calls the function that follows the table's stream, in place of a stream: for each list with a change, and for all named rows
 * together, a second later and not while an earlier call for it is at work.
 * @returns what ends it
 */
export function followTable(document: Pick<TableClient, 'middlewareStack'>, invoke: InvokeFunction): () => Promise<void> {
  const waiting = new Map<string, Map<string, Key>>();
  const running = new Map<string, Promise<unknown>>();
  let isStopped = false;
  const start = (what: string, batch: [string, Key][]) => {
    const Records = batch.map(([, { pk, sk }]) => ({ dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } }));
    // The schedule folds a list that is not folded now. Nothing else would index a name, before it changes again.
    const next = attempts.includes(what) && attempts[attempts.indexOf(what) + 1];
    const call = invoke('maintenance/follow-table', { Records }).catch(() => {
      if (next) for (const [name, key] of batch) add(next, name, key);
    });
    running.set(
      what,
      call.finally(() => running.delete(what)),
    );
  };
  const startWaiting = () => {
    for (const [what, keys] of waiting) {
      if (running.has(what)) continue;
      const batch = [...keys].slice(0, mostNames);
      for (const [name] of batch) keys.delete(name);
      if (keys.size === 0) waiting.delete(what);
      start(what, batch);
    }
  };
  const add = (what: string, name: string, key: Key) =>
    waiting.set(what, (waiting.get(what) ?? new Map<string, Key>()).set(name, key));
  const timer = setInterval(startWaiting, batchingInMilliseconds);
  document.middlewareStack.add(
    (next, { commandName }) =>
      async (call) => {
        const answer = await next(call);
        if (String(commandName).startsWith('TransactWrite') && !isStopped) {
          for (const key of keysIn(call.input as TransactWriteCommandInput)) {
            const list = listOfEntry(key);
            if (list !== undefined) add(`list ${list}`, list, key);
            else if (namedRowAt(key)) add(names, `${key.pk} ${key.sk}`, key);
          }
        }
        return answer;
      },
    { name: 'followTable', override: true, step: 'initialize', priority: 'high' },
  );
  return async () => {
    isStopped = true;
    clearInterval(timer);
    do {
      await Promise.all(running.values());
      startWaiting(); // nothing else would index a name
    } while (running.size > 0);
  };
}

function keysIn({ TransactItems = [] }: TransactWriteCommandInput): Key[] {
  return TransactItems.flatMap(({ Put, Update, Delete }) => {
    const key = Put?.Item ?? Update?.Key ?? Delete?.Key;
    return key ? [{ pk: String(key['pk']), sk: String(key['sk']) }] : [];
  });
}
