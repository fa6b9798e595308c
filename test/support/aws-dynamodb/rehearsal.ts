import type { Engine } from './engine.ts';
import type { ItemRef } from './key-schemas.ts';
import type { Change } from './reveals.ts';
import type { ItemRequest, WireItem } from './wire.ts';

/** One action of a transaction, and its item. */
export interface Action {
  ref: ItemRef;
  kind: string;
  request: ItemRequest;
}

/**
 * Decides the outcome of transactions without making it visible: the engine runs a transaction on copies of its items in another
 * table. Conditions, update expressions, size limits and cancellation reasons are the engine's. The caller holds the items, so
 * that nothing changes them or their copies in the meantime.
 */
export interface Rehearsal {
  /**
   * Returns what the transaction does to each of its items, in the order of the actions.
   * @throws WireError the engine's error if it refuses the transaction
   */
  decide: (actions: Action[]) => Promise<Change[]>;
  /** Returns the current items. */
  itemsOf: (refs: ItemRef[]) => Promise<(WireItem | undefined)[]>;
}

const writesPerBatch = 25;
const copyOf = (tableName: string) => `${tableName}.rehearsal`;
const onCopy = (ref: ItemRef): ItemRef => ({ ...ref, tableName: copyOf(ref.tableName) });

export function createRehearsal(engine: Engine): Rehearsal {
  const copies = new Map<string, Promise<void>>();
  const ensureCopy = (tableName: string) => {
    const made = copies.get(tableName) ?? createCopy(engine, tableName);
    copies.set(tableName, made);
    return made;
  };
  const itemsOf = (refs: ItemRef[]) => readAll(engine, refs);
  return {
    itemsOf,
    decide: async (actions) => {
      const refs = actions.map(({ ref }) => ref);
      await Promise.all([...new Set(refs.map(({ tableName }) => tableName))].map(ensureCopy));
      const before = await itemsOf(refs);
      await overwrite(engine, refs.map(onCopy), before);
      await engine.call('TransactWriteItems', {
        TransactItems: actions.map(({ ref, kind, request }) => ({
          [kind]: { ...request, TableName: copyOf(ref.tableName) },
        })),
      });
      const after = await itemsOf(refs.map(onCopy));
      return refs.map((ref, index) => ({ ref, before: before[index], after: after[index] }));
    },
  };
}

async function createCopy(engine: Engine, tableName: string): Promise<void> {
  const { Table: table } = await engine.call('DescribeTable', { TableName: tableName });
  const keyNames = table.KeySchema.map(({ AttributeName }) => AttributeName);
  await engine.call('CreateTable', {
    TableName: copyOf(tableName),
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: table.KeySchema,
    AttributeDefinitions: table.AttributeDefinitions.filter(({ AttributeName: name }) => keyNames.includes(String(name))),
  });
}

/** Returns up to 100 current items of any tables, in the order of the references. */
async function readAll(engine: Engine, refs: ItemRef[]): Promise<(WireItem | undefined)[]> {
  const byTable = Map.groupBy(refs, ({ tableName }) => tableName);
  const found = new Map<string, WireItem>();
  let open: Record<string, { Keys: WireItem[] }> = Object.fromEntries(
    [...byTable].map(([tableName, members]) => [tableName, { Keys: members.map(({ key }) => key) }]),
  );
  while (Object.keys(open).length > 0) {
    const RequestItems = Object.fromEntries(
      Object.entries(open).map(([tableName, { Keys }]) => [tableName, { Keys, ConsistentRead: true }]),
    );
    const { Responses, UnprocessedKeys } = await engine.call('BatchGetItem', { RequestItems });
    for (const [tableName, members] of byTable) {
      const names = Object.keys(members[0]?.key ?? {});
      for (const item of Responses?.[tableName] ?? []) found.set(placeOf(tableName, names, item), item);
    }
    open = UnprocessedKeys ?? {};
  }
  return refs.map(({ tableName, key }) => found.get(placeOf(tableName, Object.keys(key), key)));
}

function placeOf(tableName: string, keyNames: string[], item: WireItem): string {
  return JSON.stringify([tableName, ...keyNames.map((name) => item[name])]);
}

async function overwrite(engine: Engine, refs: ItemRef[], items: (WireItem | undefined)[]): Promise<void> {
  for (let start = 0; start < refs.length; start += writesPerBatch) {
    const writes = refs.slice(start, start + writesPerBatch).map(({ tableName, key }, index) => {
      const item = items[start + index];
      return { tableName, write: item ? { PutRequest: { Item: item } } : { DeleteRequest: { Key: key } } };
    });
    const byTable = Map.groupBy(writes, ({ tableName }) => tableName);
    await engine.call('BatchWriteItem', {
      RequestItems: Object.fromEntries(
        [...byTable].map(([tableName, members]) => [tableName, members.map(({ write }) => write)]),
      ),
    });
  }
}
