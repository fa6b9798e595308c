import { randomUUID } from 'node:crypto';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { matchingNumbers } from '../../../shared/events/event-filter.ts';
import { readHead } from '../../../shared/events/stored-journal.ts';
import { readEvents } from '../../../shared/events/read-events.ts';
import { readSegments } from '../../../shared/events/read-journal.ts';
import { parseSegment, type Segment } from '../../../shared/events/segment.ts';
import { journalKeys } from '../../../shared/table/keys.ts';
import { queryPrefix } from '../../../shared/table/table.ts';
import { anEvent, appendToJournal } from '../../support/append-to-journal.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

const timestamp = (second: number) => new Date(Date.UTC(2025, 6, 17) + 1000 * second).toISOString();

/** A journal whose events are a second apart and so large that some six of them fill a segment. */
async function aJournal(): Promise<{ id: string; segments: Segment[] }> {
  const id = randomUUID();
  const large = anEvent({ details: Buffer.alloc(22_000) });
  for (let second = 0; second < 40; second++) await appendToJournal(embedded.table, id, [large], timestamp(second));
  const items = await queryPrefix(embedded.table, journalKeys.partition(id), journalKeys.prefixes.segment);
  return { id, segments: items.map(parseSegment) };
}

async function read(id: string, range: { from?: string | undefined; to?: string | undefined } = {}): Promise<Segment[]> {
  return await readSegments(embedded.table, id, await readHead(embedded.table, id), { from: range.from, to: range.to });
}

describe('readSegments', () => {
  it('reads only the segments that can contain events of the time range', async () => {
    const { id, segments } = await aJournal();
    expect(segments.length).toBeGreaterThan(4);
    expect(await read(id)).toEqual(segments);
    const [, second, third] = segments;
    expect(await read(id, { from: second?.first_at, to: third?.first_at })).toEqual([second, third]);
    expect(await read(id, { from: third?.first_at })).toEqual(segments.slice(2));
  });

  it.each([
    ['first', 0],
    ['second', 1],
    ['last', -1],
  ])('refuses a journal without its %s segment', async (_which, index) => {
    const { id, segments } = await aJournal();
    const missing = segments.at(index);
    if (!missing) throw new Error('The journal has too few segments.');
    const Key = journalKeys.segment(id, missing.last_at, missing.last_number);
    await embedded.table.document.send(new DeleteCommand({ TableName: embedded.table.name, Key }));
    await expect(read(id)).rejects.toMatchObject({ name: 'JournalGapError' });
  });
});

describe('matchingNumbers', () => {
  it('returns the events from, up to and between two times within a segment', async () => {
    const { segments } = await aJournal();
    const [, segment] = segments;
    if (!segment) throw new Error('The journal has too few segments.');
    const { first_number: first, last_number: last } = segment;
    const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
    expect(matchingNumbers({}, segment)).toEqual(numbers(first, last));
    expect(matchingNumbers({ from: timestamp(first) }, segment)).toEqual(numbers(first + 1, last));
    expect(matchingNumbers({ to: timestamp(first) }, segment)).toEqual(numbers(first, first + 1));
    expect(matchingNumbers({ from: timestamp(first), to: timestamp(first) }, segment)).toEqual([first + 1]);
  });
});

describe('readEvents', () => {
  it('returns the events up to a time, in segments and after the last one, without any filter besides', async () => {
    const { id, segments } = await aJournal();
    expect(segments.at(-1)?.last_number).toBeLessThan(40);
    for (let second = 0; second < 40; second++) {
      const at = timestamp(second);
      const page = await readEvents(embedded.table, id, { to: at }, { limit: 1, offset: 0 });
      expect([page.total, page.events.map((event) => event.timestamp)]).toEqual([second + 1, [at]]);
    }
  });
});
