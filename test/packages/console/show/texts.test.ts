import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { agoText, durationText, momentText, offsetText, sizeText } from '../../../../packages/console/show/texts.ts';
import { learnServiceTime, serviceNow } from '../../../../packages/console/show/service-clock.ts';

describe('a size', () => {
  it.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [1_023, '1023 bytes'],
    [1_024, '1.0 KiB'],
    [1_536, '1.5 KiB'],
    [4_194_304, '4.0 MiB'],
    [157_286_400, '150 MiB'],
    [5_368_709_120, '5.0 GiB'],
  ])('of %i bytes reads as %s', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text.replace(' ', '\u00a0'));
  });
});

it('a point in time reads with its zone', () => {
  expect(momentText('2026-11-22T12:00:00.000Z')).toMatch(/^22 Nov 2026, \d\d:\d\d:00 [A-Z]{2,4}/);
  expect(momentText('no time')).toBe('no time');
});

describe('a duration', () => {
  it.each([
    [-5, '0 s'],
    [1_499, '1 s'],
    [200_000, '3 min 20 s'],
    [540_000, '9 min'],
    [7_260_000, '2 h 1 min'],
    [90_000_000, '1 d 1 h'],
  ])('of %i ms reads as %s', (milliseconds, text) => {
    expect(durationText(milliseconds)).toBe(text);
  });

  it.each([
    [0, '+0.0 s'],
    [1_234, '+1.2 s'],
    [200_000, '+3 min 20 s'],
  ])('%i ms after the start reads as %s', (milliseconds, text) => {
    expect(offsetText(milliseconds)).toBe(text);
  });
});

describe('a point in time', () => {
  const now = Date.parse('2026-11-22T12:00:00Z');
  it.each([
    ['2026-11-22T11:59:30Z', 'just now'],
    ['2026-11-22T12:00:20Z', 'just now'],
    ['2026-11-22T11:58:01Z', '1 minute ago'],
    ['2026-11-22T09:10:00Z', '2 hours ago'],
    ['2026-11-15T12:00:00Z', '7 days ago'],
    ['2026-08-01T12:00:00Z', '3 months ago'],
    ['2024-11-01T12:00:00Z', '2 years ago'],
    ['2026-11-24T13:00:00Z', 'in 2 days'],
  ])('of %s is %s', (timestamp, text) => {
    expect(agoText(timestamp, now)).toBe(text);
  });
});

const now = Date.parse('2026-11-22T12:00:00Z');
beforeEach(() => void vi.useFakeTimers({ now }));
afterEach(() => void vi.useRealTimers());

const learn = (date?: string, sentAt = now) =>
  learnServiceTime({ headers: new Headers(date === undefined ? {} : { date }) }, sentAt);

it("the service's clock is that of its latest answer that says another time", () => {
  learn('Sun, 22 Nov 2026 11:50:00 GMT');
  expect(serviceNow()).toBe(now - 600_000);
  learn('Sun, 22 Nov 2026 11:49:58 GMT'); // has taken two seconds
  expect(serviceNow()).toBe(now - 600_000);
  learn('Sun, 22 Nov 2026 13:00:00 GMT');
  expect(serviceNow()).toBe(now + 3_600_000);
  learn('Sun, 22 Nov 2026 12:00:00 GMT');
  expect(serviceNow()).toBe(now);
});

it("the service's clock is not changed by an answer that was long under way", () => {
  learn('Sun, 22 Nov 2026 11:58:00 GMT', now - 119_000);
  expect(serviceNow()).toBe(now);
  learn('Sun, 22 Nov 2026 11:58:00 GMT', now - 1_000);
  expect(serviceNow()).toBe(now - 120_000);
  learn('Sun, 22 Nov 2026 12:00:00 GMT');
});

it("the service's clock is not changed by an answer whose time cannot be read", () => {
  learn();
  learn('soon');
  expect(serviceNow()).toBe(now);
});
