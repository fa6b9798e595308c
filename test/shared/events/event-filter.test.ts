import { describe, expect, it } from 'vitest';
import { matches, matchingNumbers, parseTimeBound } from '../../../shared/events/matching-events.ts';
import { parseSegment, segmentItem } from '../../../shared/journal/segment.ts';
import { chainedEvent, publicEvent, storedEvent } from '../../../shared/journal/journal.ts';
import { anEvent } from '../../support/append-to-journal.ts';

describe('parseTimeBound', () => {
  it.each([
    ['2025-07-17T08:00:00Z', '2025-07-17T08:00:00.000Z'],
    ['2025-07-17t08:00:00.5z', '2025-07-17T08:00:00.500Z'],
    ['2025-07-17 08:00:00Z', '2025-07-17T08:00:00.000Z'],
    ['2025-07-17T10:30:00+02:30', '2025-07-17T08:00:00.000Z'],
    ['2025-07-17T10:30:00 02:30', '2025-07-17T08:00:00.000Z'],
    ['2025-07-16T23:00:00.123-09:00', '2025-07-17T08:00:00.123Z'],
    ['2025-07-18T07:59:00+23:59', '2025-07-17T08:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
    ['0', '1970-01-01T00:00:00.000Z'],
    ['1752739200', '2025-07-17T08:00:00.000Z'],
    ['1752739200.25', '2025-07-17T08:00:00.250Z'],
  ])('reads %s as %s', (text, timestamp) => {
    expect([parseTimeBound(text, 'from'), parseTimeBound(text, 'to')]).toEqual([timestamp, timestamp]);
  });

  it.each(['2025-07-17T08:00:00.1230001Z', '1752739200.1239'])('rounds %s into the range', (text) => {
    expect([parseTimeBound(text, 'from'), parseTimeBound(text, 'to')]).toEqual([
      '2025-07-17T08:00:00.124Z',
      '2025-07-17T08:00:00.123Z',
    ]);
  });

  it.each([
    '',
    'yesterday',
    '2025-07-17',
    '2025-07-17T08:00:00',
    '2025-02-29T08:00:00Z',
    '2025-13-01T08:00:00Z',
    '2025-07-17T24:00:00Z',
    '2025-07-17T08:00:61Z',
    '2025-07-17T08:00:00.123.5Z',
    '2025-07-17T08:00:00.Z',
    '2025-07-17T08:00:00+24:00',
    '2025-07-17T08:00:00+01:60',
    'x2025-07-17T08:00:00Z',
    '2025-07-17T08:00:00Zx',
    'x0',
    '0x',
    '0000-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59.9999Z',
    '1752739200000',
    '-5',
    '1e9',
    'NaN',
  ])('throws an error that names the parameter for "%s"', (text) => {
    expect(() => parseTimeBound(text, 'from')).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        extras: { errors: [expect.objectContaining({ pointer: 'query/from' })] },
      }),
    );
  });
});

const timestamp = (second: number) => new Date(Date.UTC(2025, 6, 17) + 1000 * second).toISOString();
const eventAt = (second: number) => chainedEvent(storedEvent(anEvent(), second, timestamp(second)), undefined);

describe('matches of an event filter', () => {
  it('is true for events at both ends of a time range', () => {
    const event = publicEvent(eventAt(5));
    expect(matches({ from: timestamp(5), to: timestamp(5) }, event)).toBe(true);
    expect(matches({ from: timestamp(6) }, event)).toBe(false);
  });
});

describe('matchingNumbers', () => {
  it('returns the events from, up to and between two times within a segment', () => {
    const segment = parseSegment(segmentItem('c', [7, 8, 9, 10].map(eventAt)).item);
    expect(matchingNumbers({}, segment)).toEqual([7, 8, 9, 10]);
    expect(matchingNumbers({ from: timestamp(8) }, segment)).toEqual([8, 9, 10]);
    expect(matchingNumbers({ to: timestamp(8) }, segment)).toEqual([7, 8]);
    expect(matchingNumbers({ from: timestamp(8), to: timestamp(8) }, segment)).toEqual([8]);
  });
});
