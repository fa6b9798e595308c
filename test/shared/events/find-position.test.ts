import { randomUUID } from 'node:crypto';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { numberedId, numberOf } from 'computation-management-formats/identifiers';
import { describe, expect, it } from 'vitest';
import { Deadline, type Clock } from '../../../shared/runtime/deadline.ts';
import { findPosition } from '../../../shared/events/read-events.ts';
import { journalKeys } from '../../../shared/table/keys.ts';
import { anEvent, appendToJournal } from '../../support/append-to-journal.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { longestWaitInMilliseconds } from '../../support/patience.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { getItem } from '../../../shared/table/table.ts';

const embedded = sharedByTests(startEmbeddedTable);

async function aJournal(size: number): Promise<{ computation: string; ids: string[] }> {
  const computation = randomUUID();
  const events = await appendToJournal(
    embedded.table,
    computation,
    Array.from({ length: size }, () => anEvent()),
  );
  return { computation, ids: events.map(({ id }) => id) };
}

const numberFor = async (computation: string, id: string) => (await findPosition(embedded.table, computation, id))?.number;

describe('the identifier of an event', () => {
  it('has the number of the event, and an unguessable rest', async () => {
    const { ids } = await aJournal(60);
    expect(ids.map(numberOf)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
    expect(new Set(ids.map((id) => id.slice(14))).size).toBe(60);
  });
});

describe('findPosition', () => {
  it('finds the event with an identifier, and the head of its journal', async () => {
    const { computation, ids } = await aJournal(3);
    expect(await findPosition(embedded.table, computation, ids[1] ?? '')).toMatchObject({ number: 2, head: { count: 3 } });
  });

  it('begins before the first event for an empty identifier', async () => {
    const { computation } = await aJournal(3);
    expect(await findPosition(embedded.table, computation, '')).toMatchObject({ number: 0, head: { count: 3 } });
  });

  it('finds no event of another journal, with the same number or another, and none that was made up', async () => {
    const [{ computation }, other] = [await aJournal(3), await aJournal(5)];
    const strangers = [...other.ids, ...[0, 1, 3, 4, 53, 54, 2 ** 48 - 1].map(numberedId), randomUUID()];
    for (const id of strangers) expect(await numberFor(computation, id)).toBeUndefined();
    expect(await numberFor(randomUUID(), other.ids[0] ?? '')).toBeUndefined();
  });

  it('finds an event that becomes visible a moment after its head, or before it', async () => {
    const { document, name: TableName } = embedded.table;
    const { computation, ids } = await aJournal(2);
    for (const key of [journalKeys.event(computation, 2), journalKeys.head(computation)]) {
      const Item = await getItem(embedded.table, key);
      await document.send(new DeleteCommand({ TableName, Key: { pk: key.pk, sk: key.sk } }));
      if (key.sk === 'head') await document.send(new PutCommand({ TableName, Item: { ...Item, count: 1 } }));
      const revealing: Clock = {
        now: () => Date.now(),
        wait: async () => {
          await document.send(new PutCommand({ TableName, Item }));
        },
      };
      const table = { ...embedded.table, deadline: () => new Deadline(longestWaitInMilliseconds, revealing) };
      expect(await findPosition(table, computation, ids[1] ?? '')).toMatchObject({ number: 2 });
    }
  });

  it('looks a second time only for an event that may be about to become visible', async () => {
    const { computation } = await aJournal(3);
    let looks = 0;
    const looking: Clock = { now: () => 0, wait: async () => void (looks += 1) };
    const table = { ...embedded.table, deadline: () => new Deadline(longestWaitInMilliseconds, looking) };
    const looksFor = async (number: number, of = computation) => {
      looks = 0;
      expect(await findPosition(table, of, numberedId(number))).toBeUndefined();
      return looks;
    };
    expect([await looksFor(0), await looksFor(4), await looksFor(53), await looksFor(54)]).toEqual([0, 1, 1, 0]);
    expect(await looksFor(1, randomUUID())).toBe(0);
  });
});
