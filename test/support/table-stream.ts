import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { StreamBatch } from '../../shared/table/fold-lists.ts';
import type { AnyKey } from '../../shared/table/keys.ts';
import type { Table } from '../../shared/table/table.ts';

/** The changes that transactions make of a table, as its stream has them. */
export interface TableStream {
  /** Returns the changes since the last call, in their order. */
  take: () => StreamBatch;
}

/** Records the changes that transactions make of a table, in place of its stream. */
export function streamOf({ document }: Table): TableStream {
  const keys: AnyKey[] = [];
  document.middlewareStack.add(
    (next, { commandName }) =>
      async (call) => {
        const answer = await next(call);
        const { TransactItems = [] } = call.input as Partial<TransactWriteCommandInput>;
        if (!String(commandName).startsWith('TransactWrite')) return answer;
        for (const { Put, Update, Delete } of TransactItems) {
          const { pk, sk } = Put?.Item ?? Update?.Key ?? Delete?.Key ?? {};
          if (pk !== undefined) keys.push({ pk: String(pk), sk: String(sk) });
        }
        return answer;
      },
    { step: 'initialize' },
  );
  return {
    take: () => ({ Records: keys.splice(0).map(({ pk, sk }) => ({ dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } })) }),
  };
}
