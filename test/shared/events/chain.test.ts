import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../../shared/events/event.ts';
import { appendEvents } from '../../../shared/events/append-events.ts';
import { type JournalHead, parseEvent, readHead } from '../../../shared/events/stored-journal.ts';
import { readEvents } from '../../../shared/events/read-events.ts';
import { journalKeys } from '../../../shared/table/keys.ts';
import { getItem } from '../../../shared/table/table.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { anEvent, appendToJournal, clockOfTests, ownerOf } from '../../support/append-to-journal.ts';
import { itemSize } from '../../support/aws-dynamodb/limits.ts';
import type { WireItem, WireValue } from '../../support/aws-dynamodb/wire.ts';
import { startEmbeddedTable, startProxiedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

/** Written by hand: names in order, no white space. All texts of these tests are plain. */
function hashByHand({ hash: _, ...event }: Event): string {
  const members = Object.entries(event).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify(Object.fromEntries(members)))
    .digest('hex');
}

async function journalOf(computation: string, filter = {}): Promise<Event[]> {
  const { events } = await readEvents(embedded.table, computation, filter, { limit: 100, offset: 0 });
  return events.toReversed();
}

describe('the chain of a journal', () => {
  it('gives each event the SHA-256 of its canonical JSON, and the hash of the event before', async () => {
    const computation = randomUUID();
    await appendToJournal(embedded.table, computation, [anEvent({ event_type: 'created' })]);
    await appendToJournal(embedded.table, computation, [
      anEvent({ details: { b: 1, a: 'x' } }),
      anEvent({ run_id: 'r-1' }),
      anEvent(),
    ]);
    const events = await journalOf(computation);
    expect(events.map(({ hash }) => hash)).toEqual(events.map(hashByHand));
    expect(events.map((event) => event.previous_hash)).toEqual(['', ...events.slice(0, -1).map(({ hash }) => hash)]);
  });

  it('is the same whichever way events are read: newest, by page, by time, filtered from segments, as the latest', async () => {
    const computation = randomUUID();
    const made = Array.from({ length: 300 }, (_, index) => anEvent({ event_type: index % 7 === 0 ? 'seventh' : 'other' }));
    const appended = await appendToJournal(embedded.table, computation, [...made, anEvent({ event_type: 'completed' })]);
    await appendToJournal(embedded.table, computation, [anEvent({ lifecycle: false })]);
    const known = new Map(appended.map((event) => [event.id, event]));
    const pages = [{}, { event_type: 'seventh' }, { from: clockOfTests }, { status: 'InProgress', to: clockOfTests }];
    for (const filter of pages) {
      for (const offset of [0, 50, 250]) {
        const { events } = await readEvents(embedded.table, computation, filter, { limit: 100, offset });
        expect(events.filter(({ id }) => known.has(id))).toEqual(events.flatMap(({ id }) => known.get(id) ?? []));
      }
    }
    expect(parseEvent(await getItem(embedded.table, journalKeys.latest(computation)))).toEqual(appended.at(-1));
  });

  it('has no gap after concurrent appends', async () => {
    const computation = randomUUID();
    const batches = Array.from({ length: 8 }, (_, index) => Array.from({ length: index + 1 }, () => anEvent()));
    await Promise.all(batches.map((events) => appendToJournal(embedded.table, computation, events)));
    const events = await journalOf(computation);
    expect(events.map((event) => event.previous_hash)).toEqual(['', ...events.slice(0, -1).map(({ hash }) => hash)]);
  });

  it('costs no more write units: 6 for one event, 104 for 50', async () => {
    const proxied = await startProxiedTable({ latencyInMilliseconds: 0 });
    try {
      for (const [count, units] of [
        [1, 6],
        [50, 104],
      ] as const) {
        const head = await readHead(proxied.direct, randomUUID());
        const events = Array.from({ length: count }, () =>
          anEvent({ run_id: randomUUID(), cvm_id: 'cvm-1', details: { occurred_at: clockOfTests } }),
        );
        const { actions } = await appendEvents(proxied.direct, ownerOf(randomUUID()), head, events, clockOfTests);
        proxied.proxy.reset();
        await transact(proxied.table, actions);
        expect([proxied.proxy.calls.length, proxied.proxy.writeUnits()]).toEqual([1, units]);
      }
    } finally {
      await proxied.stop();
    }
  });

  it('keeps a full head below 1 KB, and adds 81 bytes to an event', async () => {
    const head = await readHead(embedded.table, randomUUID());
    const marks = {
      ends: Array.from({ length: 15 }, (_, index) => ({ at: clockOfTests, number: 999_999 - index })),
      strideInBytes: 768 * 1024 * 1024,
      bytesSinceLast: 768 * 1024 * 1024 - 1,
    };
    const full: JournalHead = {
      ...head,
      count: 999_999,
      last_at: clockOfTests,
      sealed: 999_744,
      sealed_at: clockOfTests,
      unsealed_bytes: 131_071,
      marks,
    };
    const { actions } = await appendEvents(embedded.table, ownerOf(randomUUID()), full, [anEvent()], clockOfTests);
    const [event = {}, next = {}] = actions.map(({ put }) => put?.Item ?? {});
    expect(sizeOf(next)).toBeLessThan(1024);
    const { hash: _, previous_hash: __, ...without } = event as Record<string, unknown>;
    await appendToJournal(embedded.table, randomUUID(), [anEvent()]);
    expect(sizeOf(event) - sizeOf(without)).toBeLessThanOrEqual(81);
  });
});

function sizeOf(item: object): number {
  return itemSize(wireItem(item));
}

function wireItem(item: object): WireItem {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, wireValue(value)]));
}

function wireValue(value: unknown): WireValue {
  if (value instanceof Uint8Array) return { B: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) return { L: value.map(wireValue) };
  if (typeof value === 'object' && value !== null) return { M: wireItem(value) };
  return typeof value === 'number' ? { N: String(value) } : { S: String(value) };
}
