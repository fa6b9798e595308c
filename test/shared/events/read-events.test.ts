import { randomUUID } from 'node:crypto';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventFilter } from '../../../shared/events/matching-events.ts';
import { type Event, readHead } from '../../../shared/journal/journal.ts';
import {
  type Continuation,
  type EventsAfter,
  type Paging,
  readEvents,
  readEventsAfter,
  readNewEvents,
} from '../../../shared/events/read-events.ts';
import { parseSegment } from '../../../shared/journal/segment.ts';
import { journalKeys } from '../../../shared/table/keys.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { amount } from '../../support/amounts.ts';
import { anEvent, appendToJournal } from '../../support/append-to-journal.ts';
import { startEmbeddedTable, startProxiedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { schemaAttribute } from '../../../shared/table/stored.ts';
import { queryPrefix } from '../../../shared/table/table.ts';

const embedded = sharedByTests(startEmbeddedTable);
const proxied = sharedByTests(startProxiedTable);

const start = Date.parse('2025-07-17T08:00:00.000Z');
const timestamp = (milliseconds: number) => new Date(start + milliseconds).toISOString();

/** Returns the expected page of a plain list that has the oldest event first. */
function expected(events: Event[], filter: EventFilter, { limit, offset }: Paging): { events: Event[]; total: number } {
  const matching = events.filter((event) => passes(event, filter)).reverse();
  return { events: matching.slice(offset, offset + limit), total: matching.length };
}

/** Returns the expected events of a plain list after one of them, oldest first. */
function expectedAfter(events: Event[], filter: EventFilter, { limit, after }: Continuation): EventsAfter {
  const matching = events.filter((event) => passes(event, filter));
  const following = events.slice(after).filter((event) => passes(event, filter));
  return { events: following.slice(0, limit), total: matching.length, count: events.length };
}

function passes(event: Event, { from, to, ...wanted }: EventFilter): boolean {
  const fields = new Map(Object.entries(event));
  const equal = Object.entries(wanted).every(([name, value]) => value === undefined || fields.get(name) === value);
  return (
    equal && (!from || Date.parse(event.timestamp) >= Date.parse(from)) && (!to || Date.parse(event.timestamp) <= Date.parse(to))
  );
}

const types = fc.constantFrom('started', 'Running', 'completed');
const statuses = fc.constantFrom('success', 'failure', 'InProgress');
const runs = fc.constantFrom('', 'run-1', 'run-2', 'run-3');
const cvms = fc.constantFrom('', 'cvm-1', 'cvm-2');
const originators = fc.constantFrom('agent', 'system', 'alice');

const newEvent = fc
  .record({
    event_type: types,
    status: statuses,
    run_id: runs,
    cvm_id: cvms,
    originator: originators,
    size: fc.oneof({ weight: 3, arbitrary: fc.constant(2) }, { weight: 1, arbitrary: fc.constant(20_000) }),
  })
  .map(({ size, ...fields }) => anEvent({ ...fields, details: Buffer.alloc(size, 7) }));

const batch = fc.record({
  step: fc.constantFrom(0, 0, 1, 7, -3),
  events: fc.array(newEvent, { minLength: 1, maxLength: 50, size: 'max' }),
});

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const moment = fc.integer({ min: -2, max: 25 }).map(timestamp);
const listing = fc.record({
  filter: fc.record({
    event_type: maybe(types),
    status: maybe(statuses),
    run_id: maybe(runs),
    cvm_id: maybe(cvms),
    originator: maybe(originators),
    from: maybe(moment),
    to: maybe(moment),
  }),
  timesOnly: fc.boolean(),
  limit: fc.integer({ min: 1, max: 100 }),
  offset: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 400 })),
  after: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 400 })),
});

describe('readEvents', () => {
  it('returns the same pages and totals as a plain list for random journals and filters, also after any event', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(batch, { maxLength: 14, size: 'max' }),
        fc.array(listing, { minLength: 12, maxLength: 24 }),
        async (batches, listings) => {
          const computation = randomUUID();
          const recorded: Event[] = [];
          let clock = 0;
          for (const { step, events } of batches) {
            clock += step;
            recorded.push(...(await appendToJournal(embedded.table, computation, events, timestamp(clock))));
          }
          const head = await readHead(embedded.table, computation);
          for (const { filter, timesOnly, limit, offset, after: any } of listings) {
            const asked = timesOnly ? { from: filter.from, to: filter.to } : filter;
            const [paging, after] = [
              { limit, offset },
              { limit, after: Math.min(any, recorded.length) },
            ];
            expect(await readEvents(embedded.table, computation, asked, paging)).toEqual(expected(recorded, asked, paging));
            const following = await readEventsAfter(embedded.table, computation, asked, after, head);
            expect(following).toEqual(expectedAfter(recorded, asked, after));
          }
        },
      ),
      { numRuns: amount({ sample: 4, full: 20 }), endOnFailure: true },
    );
  });

  it('returns the same as a plain list when segments share a timestamp and are read in stretches', async () => {
    const computation = randomUUID();
    const recorded: Event[] = [];
    for (let round = 0; round < 14; round++) {
      const events = Array.from({ length: 13 }, (_, index) =>
        anEvent({ run_id: `run-${index % 3}`, details: Buffer.alloc(22_000) }),
      );
      recorded.push(...(await appendToJournal(embedded.table, computation, events, timestamp(Math.floor(round / 4)))));
    }
    const items = await queryPrefix(embedded.table, journalKeys.partition(computation), journalKeys.prefixes.segment);
    const ends = items.map(parseSegment).map((segment) => ({ at: segment.last_at, number: segment.last_number }));
    const head = await readHead(embedded.table, computation);
    const marked = { ...journalKeys.head(computation), ...schemaAttribute, ...head, marks: { ...head.marks, ends } };
    await embedded.table.document.send(new PutCommand({ TableName: embedded.table.name, Item: marked }));

    expect(ends.length).toBeGreaterThan(10);
    const times = [undefined, timestamp(-1), timestamp(0), timestamp(1), timestamp(2), timestamp(3), timestamp(4)];
    for (const from of times) {
      for (const to of times) {
        const filter = { run_id: 'run-1', from, to };
        const paging = { limit: 3, offset: 2 };
        expect(await readEvents(embedded.table, computation, filter, paging)).toEqual(expected(recorded, filter, paging));
      }
    }
  });

  it('returns a total and a page of the same moment during appends', async () => {
    const computation = randomUUID();
    const progress = { isAppending: true };
    const writer = (async () => {
      for (let round = 0; round < 40; round++) {
        const events = Array.from({ length: 20 }, (_, index) => anEvent({ status: index % 2 === 0 ? 'even' : 'odd' }));
        await appendToJournal(embedded.table, computation, events, timestamp(round));
      }
      progress.isAppending = false;
    })();
    let seen = 0;
    while (progress.isAppending) {
      const [all, even] = [
        await readEvents(embedded.table, computation, {}, { limit: 20, offset: 0 }),
        await readEvents(embedded.table, computation, { status: 'even', from: timestamp(0) }, { limit: 10, offset: 0 }),
      ];
      expect(all.total % 20).toBe(0);
      expect(even.total % 10).toBe(0);
      expect(all.total).toBeGreaterThanOrEqual(seen);
      expect(even.total * 2).toBeGreaterThanOrEqual(all.total);
      seen = even.total * 2;
    }
    await writer;
    expect((await readEvents(embedded.table, computation, { status: 'even' }, { limit: 1, offset: 0 })).total).toBe(400);
  });

  it('returns the events up to a time, in segments and after the last one, without any filter besides', async () => {
    const id = randomUUID();
    const large = anEvent({ details: Buffer.alloc(22_000) });
    for (let second = 0; second < 40; second++) await appendToJournal(embedded.table, id, [large], timestamp(second * 1000));
    const { sealed } = await readHead(embedded.table, id);
    expect(sealed > 0 && sealed < 40).toBe(true);
    for (let second = 0; second < 40; second++) {
      const at = timestamp(second * 1000);
      const page = await readEvents(embedded.table, id, { to: at }, { limit: 1, offset: 0 });
      expect([page.total, page.events.map((event) => event.timestamp)]).toEqual([second + 1, [at]]);
    }
  });

  it('returns no events for an empty journal and for a range that ends before it begins', async () => {
    const computation = randomUUID();
    const paging = { limit: 10, offset: 0 };
    const nothing = { events: [], total: 0 };
    expect(await readEvents(embedded.table, computation, {}, paging)).toEqual(nothing);
    expect(await readEvents(embedded.table, computation, { status: 'success' }, paging)).toEqual(nothing);
    await appendToJournal(embedded.table, computation, [anEvent()], timestamp(1));
    expect(await readEvents(embedded.table, computation, { from: timestamp(2), to: timestamp(0) }, paging)).toEqual(nothing);
    expect(await readEvents(embedded.table, computation, {}, { limit: 10, offset: 900 })).toEqual({ events: [], total: 1 });
  });
});

describe('readEvents of a damaged journal', () => {
  it('refuses the newest page if one of its events is missing', async () => {
    const computation = randomUUID();
    await appendToJournal(embedded.table, computation, [anEvent(), anEvent(), anEvent()], timestamp(1));
    const Key = journalKeys.event(computation, 2);
    await embedded.table.document.send(new DeleteCommand({ TableName: embedded.table.name, Key }));
    await expect(readEvents(embedded.table, computation, {}, { limit: 2, offset: 0 })).rejects.toThrow('has a gap');
  });
});

/** Begins to watch a journal whose events have all been seen, for new events that match a filter. */
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
    readEventsAfter(direct, computation, filter, { limit: 5, after }, await readHead(direct, computation));
  let seen = await read(eventsBefore);
  const next = async () => {
    proxy.reset();
    seen = await readNewEvents(table, computation, filter, 5, seen);
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
    expect([found.events.length, found.total]).toEqual([5, 102]);
  });

  it('throws not_found if the journal was deleted', async () => {
    const { computation, next } = await watch({});
    await transact(proxied.direct, [{ delete: { Key: journalKeys.head(computation) } }]);
    await expect(next()).rejects.toMatchObject({ code: 'not_found' });
  });
});
