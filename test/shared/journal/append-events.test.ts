import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { randomBytes, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { appendEvents } from '../../../shared/journal/append-events.ts';
import {
  eventSchema,
  isOwnEvent,
  type JournalHead,
  markSegment,
  noMarks,
  parseEvent,
  parseHead,
  readHead,
} from '../../../shared/journal/journal.ts';
import { readEvents } from '../../../shared/events/read-events.ts';
import { parseSegment } from '../../../shared/journal/segment.ts';
import { journalKeys } from '../../../shared/table/keys.ts';
import { transact, StaleReadError } from '../../../shared/table/transaction.ts';
import { anEvent, appendToJournal, clockOfTests, ownerOf } from '../../support/append-to-journal.ts';
import { itemSize } from '../../support/aws-dynamodb/limits.ts';
import type { WireItem, WireValue } from '../../support/aws-dynamodb/wire.ts';
import { startEmbeddedTable, startProxiedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { getItem, queryPrefix } from '../../../shared/table/table.ts';

it.each([
  [true, ['created', 'started', 'stop_requested', 'completed', 'failed', 'cancelled', 'updated', 'owner_changed']],
  [true, ['asset_linked', 'asset_unlinked', 'key_uploaded', 'key_removed', 'approved', 'approval_withdrawn']],
  [true, ['Attestation', 'Reconnected', 'IdentityConflict', 'StreamRefused', 'attestation', 'Re-connected', 'Аttestation']],
  [true, ['Completed', 'APPROVED', 'approved ', ' approved', 'ap proved', 'approved\u200b', 'stop-requested', 'stopRequested']],
  [true, ['аpproved', 'ｃompleted', 'failed.', 'fаiled', 'créated', 'cоmpleted', 'ѕtarted', 'fa1led', 'FAILED', 'failed']],
  [false, ['Running', 'Complete', 'Failed', 'Stopped', 'ReceivingAlgorithm', 'Approval', '']],
])('isOwnEvent returns %s for %j', (isOwn, types) => {
  expect(types.map(isOwnEvent)).toEqual(types.map(() => isOwn));
});

const embedded = sharedByTests(() => startEmbeddedTable({ bySdk: true }));

const many = (count: number) => Array.from({ length: count }, () => anEvent());

async function coverage(computationId: string): Promise<[number, number][]> {
  const items = await queryPrefix(embedded.table, journalKeys.partition(computationId), journalKeys.prefixes.segment);
  return items.map(parseSegment).map((segment) => [segment.first_number, segment.last_number]);
}

describe('appendEvents', () => {
  it('returns the events in the form of the API', async () => {
    const [event] = await appendToJournal(embedded.table, randomUUID(), [
      anEvent({ run_id: 'run-1', cvm_id: 'cvm-1', details: { reason: 'because' } }),
    ]);
    expect(v.parse(eventSchema, event)).toEqual(event);
    expect(event).toMatchObject({ run_id: 'run-1', cvm_id: 'cvm-1', timestamp: clockOfTests });
    expect(Buffer.from(event?.details ?? '', 'base64').toString()).toBe('{"reason":"because"}');
  });

  it('stores the bytes of an agent unchanged, even if there are none', async () => {
    const computation = randomUUID();
    const bytes = [Buffer.from([0, 255, 10]), Buffer.alloc(0)];
    await appendToJournal(
      embedded.table,
      computation,
      bytes.map((details) => anEvent({ details })),
    );
    const { events } = await readEvents(embedded.table, computation, {}, { limit: 10, offset: 0 });
    expect(events.map((event) => Buffer.from(event.details, 'base64'))).toEqual(bytes.toReversed());
  });

  it('never decreases a timestamp, even if the clock goes backwards', async () => {
    const computation = randomUUID();
    await appendToJournal(embedded.table, computation, many(1), '2025-07-17T08:00:05.000Z');
    const [late] = await appendToJournal(embedded.table, computation, many(1), '2025-07-17T08:00:01.000Z');
    expect(late?.timestamp).toBe('2025-07-17T08:00:05.000Z');
  });

  it('throws StaleReadError for a transaction on an outdated head', async () => {
    const computation = randomUUID();
    const head = await readHead(embedded.table, computation);
    await appendToJournal(embedded.table, computation, many(2));
    const stale = await appendEvents(embedded.table, ownerOf(computation), head, many(1), clockOfTests);
    await expect(transact(embedded.table, stale.actions)).rejects.toBeInstanceOf(StaleReadError);
  });

  it('takes 50 events, and throws a TypeError for no events and for more than 50', async () => {
    const head = parseHead(undefined);
    expect((await appendEvents(embedded.table, ownerOf('c'), head, many(50), clockOfTests)).events).toHaveLength(50);
    await expect(appendEvents(embedded.table, ownerOf('c'), head, [], clockOfTests)).rejects.toBeInstanceOf(TypeError);
    await expect(appendEvents(embedded.table, ownerOf('c'), head, many(51), clockOfTests)).rejects.toBeInstanceOf(TypeError);
  });

  it('ignores administrative events for the latest lifecycle event', async () => {
    const computation = randomUUID();
    await appendToJournal(embedded.table, computation, [
      anEvent({ event_type: 'created' }),
      anEvent({ event_type: 'started' }),
      anEvent({ event_type: 'updated', lifecycle: false }),
    ]);
    await appendToJournal(embedded.table, computation, [anEvent({ event_type: 'key_uploaded', lifecycle: false })]);
    const latest = parseEvent(await getItem(embedded.table, journalKeys.latest(computation)));
    const { events } = await readEvents(embedded.table, computation, { event_type: 'started' }, { limit: 1, offset: 0 });
    expect(latest).toEqual(events[0]);
  });

  it('numbers and chains concurrent appends without gaps, with timestamps in the same order', async () => {
    const computation = randomUUID();
    const second = (index: number) => `2025-07-17T08:00:0${index % 10}.000Z`;
    const batches = Array.from({ length: 8 }, (_, index) =>
      appendToJournal(embedded.table, computation, many(index + 1), second(index)),
    );
    const appended = (await Promise.all(batches)).flat();
    const { events, total } = await readEvents(embedded.table, computation, {}, { limit: 100, offset: 0 });
    expect(total).toBe(36);
    expect(events.map((event) => event.id).sort()).toEqual(appended.map((event) => event.id).sort());
    const times = events.map((event) => event.timestamp);
    expect(times).toEqual(times.toSorted().reverse());
    expect(events.map((event) => event.previous_hash)).toEqual([...events.slice(1).map(({ hash }) => hash), '']);
  });
});

describe('the index segments of a journal', () => {
  it('start with the append after the 256th event', async () => {
    const computation = randomUUID();
    await appendToJournal(embedded.table, computation, many(255));
    await appendToJournal(embedded.table, computation, many(1));
    expect(await coverage(computation)).toEqual([]);
    await appendToJournal(embedded.table, computation, many(1));
    expect(await coverage(computation)).toEqual([[1, 256]]);
    expect(await readHead(embedded.table, computation)).toMatchObject({ count: 257, sealed: 256, sealed_at: clockOfTests });
  });

  it('contain a batch that crosses the boundary as a whole', async () => {
    const computation = randomUUID();
    await appendToJournal(embedded.table, computation, many(250));
    await appendToJournal(embedded.table, computation, many(40));
    await appendToJournal(embedded.table, computation, many(350));
    expect(await coverage(computation)).toEqual([
      [1, 290],
      [291, 590],
    ]);
  });

  it('are written earlier if details are large, so that the tail stays small', async () => {
    const computation = randomUUID();
    const large = anEvent({ details: Buffer.alloc(100 * 1024, 1), status: 'large' });
    for (let index = 0; index < 7; index++) await appendToJournal(embedded.table, computation, [large]);
    expect(await coverage(computation)).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
    const { events, total } = await readEvents(embedded.table, computation, { status: 'large' }, { limit: 10, offset: 0 });
    expect([total, events.length, Buffer.from(events[6]?.details ?? '', 'base64').length]).toEqual([7, 7, 100 * 1024]);
  });

  it('stay below the size limit of an item with the longest and least compressible texts', async () => {
    const computation = randomUUID();
    const text = () => randomBytes(192).toString('base64').slice(0, 255);
    const events = Array.from({ length: 200 }, () =>
      anEvent({ event_type: text(), status: text(), run_id: text(), cvm_id: text(), originator: text() }),
    );
    await appendToJournal(embedded.table, computation, events);
    await appendToJournal(embedded.table, computation, events);
    expect((await coverage(computation)).length).toBeGreaterThan(0);
  });
});

describe('a damaged journal', () => {
  const overwrite = (item: Record<string, unknown>) =>
    embedded.table.document.send(new PutCommand({ TableName: embedded.table.name, Item: item }));
  const page = { limit: 10, offset: 0 };

  it('causes an internal error if an event is invalid', async () => {
    const computation = randomUUID();
    await appendToJournal(embedded.table, computation, many(3));
    await overwrite({ ...journalKeys.event(computation, 2), number: 2 });
    const reading = readEvents(embedded.table, computation, {}, page);
    await expect(reading).rejects.toMatchObject({
      name: 'Error',
      message: expect.stringContaining('A stored event does not fit'),
    });
  });

  it('causes an internal error if the head is invalid', async () => {
    const computation = randomUUID();
    await overwrite({ ...journalKeys.head(computation), count: 'many' });
    await expect(readHead(embedded.table, computation)).rejects.toMatchObject({ name: 'Error' });
  });

  it('causes an internal error if a segment is invalid', async () => {
    const computation = randomUUID();
    await appendToJournal(embedded.table, computation, many(257));
    await appendToJournal(embedded.table, computation, many(1));
    const [segment] = await queryPrefix(embedded.table, journalKeys.partition(computation), journalKeys.prefixes.segment);
    await overwrite({ ...segment, status: Buffer.from('torn') });
    await expect(readEvents(embedded.table, computation, { status: 'InProgress' }, page)).rejects.not.toMatchObject({
      code: 'not_found',
    });
    await overwrite({ ...segment, last_number: 254 });
    await expect(readEvents(embedded.table, computation, { run_id: '' }, page)).rejects.toMatchObject({ name: 'Error' });
  });

  it('throws not_found if its head is missing', async () => {
    const computation = randomUUID();
    await appendToJournal(embedded.table, computation, many(3));
    await transact(embedded.table, [
      { delete: { Key: journalKeys.head(computation) } },
      { delete: { Key: journalKeys.event(computation, 1) } },
    ]);
    await expect(readEvents(embedded.table, computation, {}, page)).rejects.toMatchObject({ code: 'not_found' });
  });
});

const place = (number: number) => ({ at: '2025-07-17T08:00:00.000Z', number });

describe('markSegment', () => {
  it('marks the segment that completes a stretch', () => {
    const almost = markSegment(noMarks, place(512), 500 * 1024);
    expect(almost.ends).toEqual([]);
    const full = markSegment(almost, place(1024), 300 * 1024);
    expect(full).toMatchObject({ ends: [place(1024)], bytesSinceLast: 0 });
  });

  it('keeps at most 15 marks, in order, with stretches of about the same size', () => {
    let marks = noMarks;
    for (let segment = 1; segment <= 2000; segment++) {
      marks = markSegment(marks, place(segment), 30 * 1024);
      expect(marks.ends.length).toBeLessThan(16);
    }
    const numbers = marks.ends.map((end) => end.number);
    const lengths = numbers.map((number, index) => number - (numbers[index - 1] ?? 0));
    expect(numbers.length).toBeGreaterThanOrEqual(8);
    expect(Math.max(...lengths) / Math.min(...lengths)).toBeLessThan(1.1);
  });
});

describe('the chain of a journal', () => {
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
