import { describe, expect, it } from 'vitest';
import { bitString, elements, smallInteger, time } from '../../../packages/attestation/evidence-bytes.ts';
import { der } from './forge-certificates.ts';

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
const of = (tag: number, text: string) => {
  const [element] = elements(new Uint8Array(der(tag, Buffer.from(text, 'latin1'))));
  if (element === undefined) throw new Error('There is no element.');
  return element;
};

describe('DER', () => {
  it.each([
    [0x17, '491231235959Z', '2049-12-31T23:59:59.000Z'],
    [0x17, '500101000000Z', '1950-01-01T00:00:00.000Z'],
    [0x18, '20240229000000Z', '2024-02-29T00:00:00.000Z'],
  ])('has the time (tag %i) %s', (tag, text, iso) => {
    expect(time(of(tag, text)).toISOString()).toBe(iso);
  });

  it.each([
    [0x18, '20250229000000Z'],
    [0x18, '20260230000000Z'],
    [0x18, '20260431000000Z'],
    [0x18, '20260000000000Z'],
    [0x18, '20261301000000Z'],
    [0x18, '20260101240000Z'],
    [0x18, '20260101000060Z'],
    [0x18, '20260101000000'],
    [0x18, '20260101000000.5Z'],
    [0x18, '20260101000000+0100'],
    [0x18, '2026-01-01T00:00:00.000Z'],
    [0x18, '260101000000Z'],
    [0x17, '20260101000000Z'],
    [0x17, '2601010000Z'],
    [0x17, ''],
    [0x16, '20260101000000Z'],
  ])('has no time (tag %i) %s', (tag, text) => {
    expect(() => time(of(tag, text))).toThrow('its DER has no time');
  });

  it.each([
    ['02020003', 'shortest form'],
    ['0200', 'negative or too large'],
    ['0201ff', 'negative or too large'],
    ['0206010000000000', 'negative or too large'],
    ['020103020103', 'not one element'],
    ['0281 0103', 'not the shortest'],
    ['028200 0103', 'not the shortest'],
    ['0280 010000', 'not the shortest'],
    ['0202 03', 'cut off'],
    ['1f020103', 'several bytes'],
  ])('has no number %s', (hex, why) => {
    expect(() => smallInteger(bytes(hex.replaceAll(' ', '')))).toThrow(why);
  });

  it('has no bits that are not whole bytes', () => {
    expect(() => bitString(of(0x03, '\x01a'))).toThrow('not whole bytes');
  });
});
