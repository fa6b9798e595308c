import { describe, expect, it } from 'vitest';
import { durationText, offsetText } from '../../../console/show/moment.ts';
import { sizeText } from '../../../console/show/size-text.ts';

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

describe('a duration', () => {
  it.each([
    [-5, '0 s'],
    [1_499, '1 s'],
    [200_000, '3 min 20 s'],
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
