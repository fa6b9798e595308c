import type { Item, Table } from '../../shared/table/table.ts';

/** A command of the table's client, with the parts of its input that tests look at. */
export interface Command {
  input: { Item?: Item; Key?: Item; ExpressionAttributeValues?: Item };
}

/** The same table, with calls that go through `around`. @param around gets what sends a call, and its command */
export function tableThrough(table: Table, around: (send: () => Promise<unknown>, command: Command) => Promise<unknown>): Table {
  const { document } = table;
  const send = (...sent: [Command, ...unknown[]]) =>
    around(() => (document.send as (...sent: unknown[]) => Promise<unknown>)(...sent), sent[0]);
  const through = new Proxy(document, {
    get: (target, name) => (name === 'send' ? send : (Reflect.get(target, name) as unknown)),
  });
  return { ...table, document: through };
}
