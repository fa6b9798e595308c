import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { EventFilter } from '../../shared/events/matching-events.ts';
import { findPosition, readEventsAfter, readNewEvents } from '../../shared/events/read-events.ts';
import { anEvent, appendToJournal } from '../support/append-to-journal.ts';
import { startAwsTable } from '../support/aws-dynamodb/aws-dynamodb.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

const aws = sharedByTests(() => startAwsTable({ transactionInMilliseconds: 60 }));

const limit = 3;

/** Watches as a client does that asks again after each answer, until it has seen so many events. */
async function watch(computation: string, count: number, filter: EventFilter): Promise<{ ids: string[]; total: number }> {
  const ids: string[] = [];
  let total = 0;
  while (ids.length < count) {
    const position = await findPosition(aws.table, computation, ids.at(-1) ?? '');
    if (!position) throw new Error('The journal does not know an event that it returned.');
    let page = await readEventsAfter(aws.table, computation, filter, { limit, after: position.number }, position.head);
    while (page.events.length === 0) page = await readNewEvents(aws.table, computation, filter, limit, page);
    ids.push(...page.events.map(({ id }) => id));
    expect(page.total).toBeGreaterThanOrEqual(Math.max(total, ids.length));
    ({ total } = page);
  }
  return { ids, total };
}

describe('watchers of a journal whose appends become visible item by item', () => {
  it('see every event once, in order, with totals that never decrease', async () => {
    const computation = randomUUID();
    const batch = (size: number) =>
      Array.from({ length: size }, (_, index) => anEvent({ status: index % 2 === 0 ? 'even' : 'odd' }));
    const first = await appendToJournal(aws.table, computation, batch(1));
    const sizes = Array.from({ length: 16 }, (_, index) => 1 + (index % 4));
    const rest = sizes.reduce((sum, size) => sum + size, 0);
    const even = 1 + sizes.reduce((sum, size) => sum + Math.ceil(size / 2), 0);
    const watching = Promise.all([
      watch(computation, 1 + rest, {}),
      watch(computation, 1 + rest, {}),
      watch(computation, even, { status: 'even' }),
    ]);
    const appended = [...first];
    for (const size of sizes) appended.push(...(await appendToJournal(aws.table, computation, batch(size))));
    const [all, again, filtered] = await watching;
    expect([all.ids, again.ids]).toEqual([appended.map(({ id }) => id), appended.map(({ id }) => id)]);
    expect(filtered.ids).toEqual(appended.filter(({ status }) => status === 'even').map(({ id }) => id));
    expect([all.total, filtered.total]).toEqual([1 + rest, even]);
    expect(aws.front.figures.readsOfPartlyVisible).toBeGreaterThan(0);
  });
});
