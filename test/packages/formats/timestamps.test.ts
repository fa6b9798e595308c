import { givenTimestamp, timeOf } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';

describe('a time that a client gives', () => {
  it.each([
    ['2025-07-17T08:00:00Z', '2025-07-17T08:00:00.000Z'],
    ['2025-07-17T08:00:00.123456789Z', '2025-07-17T08:00:00.123Z'],
    ['2025-07-17t08:00:00.5z', '2025-07-17T08:00:00.500Z'],
    ['2025-07-17 08:00:00Z', '2025-07-17T08:00:00.000Z'],
    ['2025-07-17T10:30:00+02:30', '2025-07-17T08:00:00.000Z'],
    ['2025-07-16t23:00:00-09:00', '2025-07-17T08:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ])('is accepted as it is, and %s is %s', (text, time) => {
    expect(v.parse(givenTimestamp, text)).toBe(text);
    expect(new Date(timeOf(text)).toISOString()).toBe(time);
  });

  it.each([
    '',
    'never',
    '2025-07-17',
    '2025-07-17T08:00:00',
    '2025-02-29T08:00:00Z',
    '2025-02-30T08:00:00+02:00',
    '2025-07-17T24:00:00Z',
    '2025-07-17T08:60:00Z',
    '2025-07-17T08:00:61Z',
    '2025-07-17T08:00:00+24:00',
    '2025-07-17_08:00:00Z',
    ' 2025-07-17T08:00:00Z',
    '2025-07-17T08:00:00.0000000001Z',
  ])('is refused if it is no RFC 3339: "%s"', (text) => {
    expect(v.is(givenTimestamp, text)).toBe(false);
    expect(timeOf(text)).toBeNaN();
  });
});
