import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { EventFilter } from '../../../shared/events/event-filter.ts';
import { readHead } from '../../../shared/events/stored-journal.ts';
import { readEventsAfter, readNewEvents } from '../../../shared/events/read-events.ts';
import { journalKeys } from '../../../shared/table/keys.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { anEvent, appendToJournal } from '../../support/append-to-journal.ts';
import { startProxiedTable } from '../../support/proxied-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const proxied = sharedByTests(startProxiedTable);

const limit = 5;

/** A watcher that has seen all events of a journal, and asks for those that match. */
async function watch(filter: EventFilter, eventsBefore = 3) {
  const { direct, table, proxy } = proxied;
  const computation = randomUUID();
  const append = (...statuses: string[]) =>
    appendToJournal(
      direct,
      computation,
      statuses.map((status) => anEvent({ status })),
    );
  await append(...Array.from({ length: eventsBefore }, (_, index) => (index % 2 === 0 ? 'even' : 'odd')));
  const read = async (after: number) =>
    readEventsAfter(direct, computation, filter, { limit, after }, await readHead(direct, computation));
  let seen = await read(eventsBefore);
  const next = async () => {
    proxy.reset();
    seen = await readNewEvents(table, computation, filter, limit, seen);
    return seen;
  };
  return { computation, append, next, fresh: () => read(eventsBefore), units: () => proxy.readUnits() };
}

describe('readNewEvents', () => {
  it.each([
    ['no filter', {}],
    ['a status', { status: 'even' }],
    ['a time range that is still open', { from: '2020-01-01T00:00:00.000Z' }],
  ])('returns the same as a new request after an append, with %s', async (_what, filter) => {
    const { append, next, fresh } = await watch(filter);
    expect(await next()).toMatchObject({ events: [] });
    await append('odd', 'even', 'even');
    expect(await next()).toEqual(await fresh());
  });

  it('costs half a read unit while nothing is recorded', async () => {
    const { next, units } = await watch({ status: 'even' }, 40);
    await next();
    expect(units()).toBe(0.5);
  });

  it('reads only the new events if there is a filter, and remembers those that do not match', async () => {
    const { append, next, fresh, units } = await watch({ status: 'even' }, 240);
    await append('odd', 'odd');
    expect(await next()).toMatchObject({ events: [], count: 242 });
    expect(units()).toBeLessThanOrEqual(1.5);
    await append('even');
    const found = await next();
    expect(units()).toBeLessThanOrEqual(1.5);
    expect(found).toEqual(await fresh());
    expect(found.events).toHaveLength(1);
  });

  it('returns the first page of very many new events, and their exact total', async () => {
    const { append, next, fresh } = await watch({ status: 'even' });
    await append(...Array.from({ length: 300 }, (_, index) => (index % 3 === 0 ? 'even' : 'odd')));
    const found = await next();
    expect(found).toEqual(await fresh());
    expect([found.events.length, found.total]).toEqual([limit, 102]);
  });

  it('throws not_found if the journal was deleted', async () => {
    const { computation, next } = await watch({});
    await transact(proxied.direct, [{ delete: { Key: journalKeys.head(computation) } }]);
    await expect(next()).rejects.toMatchObject({ code: 'not_found' });
  });
});
