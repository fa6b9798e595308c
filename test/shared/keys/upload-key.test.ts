import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { readEvents } from '../../../shared/events/read-events.ts';
import type { Table } from '../../../shared/table/table.ts';
import { aComputation, aKey, startStores } from '../../support/builders-store.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { tableThrough } from '../../support/embedded-table.ts';

const stores = sharedByTests(startStores);

/** The table, whose first batch read has no key yet, as DynamoDB may answer during the transaction that writes it. */
function withATornRead(table: Table): Table {
  let isTorn = true;
  return tableThrough(table, async (send, command) => {
    const answer = await send();
    if (!isTorn || !(command instanceof BatchGetCommand)) return answer;
    isTorn = false;
    const { Responses = {} } = answer as { Responses?: Record<string, Record<string, unknown>[]> };
    const seen = (Responses[table.name] ?? []).filter((item) => !('user_key' in item));
    return { ...(answer as object), Responses: { [table.name]: seen } };
  });
}

describe('uploadKey', () => {
  it('records one event for the same key sent twice, also if the second read misses the key that was written with the row', async () => {
    const id = await aComputation(stores.table, 'd1');
    await aKey(stores.table, 'd1', id);
    await aKey(withATornRead(stores.table), 'd1', id);
    const { events } = await readEvents(stores.table, id, {}, { limit: 10, offset: 0 });
    expect(events.map(({ event_type }) => event_type)).toEqual(['key_uploaded', 'created']);
  });
});
