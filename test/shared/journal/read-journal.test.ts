import { randomUUID } from 'node:crypto';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { readHead } from '../../../shared/journal/journal.ts';
import { JournalGapError, readSegments, withoutGaps } from '../../../shared/journal/read-journal.ts';
import { parseSegment, type Segment } from '../../../shared/journal/segment.ts';
import { journalKeys } from '../../../shared/table/keys.ts';
import { type Table, queryPrefix } from '../../../shared/table/table.ts';
import { anEvent, appendToJournal } from '../../support/append-to-journal.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { testClock } from '../../support/test-clock.ts';

const embedded = sharedByTests(startEmbeddedTable);

const noRange = { from: undefined, to: undefined };
const timestamp = (second: number) => new Date(Date.UTC(2025, 6, 17) + 1000 * second).toISOString();

describe('readSegments', () => {
  it('reads only the segments that can contain events of the time range, and refuses a journal without one of them', async () => {
    const id = randomUUID();
    const large = anEvent({ details: Buffer.alloc(22_000) }); // some six fill a segment
    for (let second = 0; second < 40; second++) await appendToJournal(embedded.table, id, [large], timestamp(second));
    const items = await queryPrefix(embedded.table, journalKeys.partition(id), journalKeys.prefixes.segment);
    const segments = items.map(parseSegment);
    expect(segments.length).toBeGreaterThan(4);
    const head = await readHead(embedded.table, id);
    const read = (range: { from?: string; to?: string }) =>
      readSegments({ table: embedded.table, computationId: id, head }, { ...noRange, ...range });
    const [, second, third] = segments as [Segment, Segment, Segment];
    expect(await read({})).toEqual(segments);
    expect(await read({ from: second.first_at, to: third.first_at })).toEqual([second, third]);
    expect(await read({ from: third.first_at })).toEqual(segments.slice(2));

    const TableName = embedded.table.name;
    for (const Item of [items[0], items[1], items.at(-1)]) {
      await embedded.table.document.send(new DeleteCommand({ TableName, Key: { pk: Item?.['pk'], sk: Item?.['sk'] } }));
      await expect(read({})).rejects.toMatchObject({ name: 'JournalGapError' });
      await embedded.table.document.send(new PutCommand({ TableName, Item }));
    }
  });
});

function patient(): Table {
  const clock = testClock({ skipsWaits: true });
  return { ...embedded.table, deadline: () => new Deadline(60_000, clock) };
}

/**
 * Reads a journal that has a gap in the first attempts.
 * @returns the number of the attempt that succeeds
 */
const readsAfter = (gaps: number) =>
  withoutGaps(patient(), (attempt) =>
    attempt <= gaps ? Promise.reject(new JournalGapError('It has a gap.')) : Promise.resolve(attempt),
  );

describe('withoutGaps', () => {
  it('reads again while the journal has a gap, up to eight times', async () => {
    expect([await readsAfter(0), await readsAfter(1), await readsAfter(7)]).toEqual([1, 2, 8]);
    const damaged = { message: 'It has a gap.', cause: expect.any(JournalGapError) };
    await expect(readsAfter(8)).rejects.toMatchObject(damaged);
  });

  it('does not read again after another failure', async () => {
    const failure = new Error('It is down.');
    let attempts = 0;
    const read = withoutGaps(patient(), () => {
      attempts += 1;
      return Promise.reject(failure);
    });
    await expect(read).rejects.toBe(failure);
    expect(attempts).toBe(1);
  });
});
