import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { holdsText } from './suite-state.ts';

const secret = '-----BEGIN PRIVATE KEY-----';
const text = Buffer.from(`{"id":"a","key":"${secret}"}`);
const item = (value: Buffer) => Buffer.from(JSON.stringify({ pk: { S: 'a' }, answer: { B: value.toString('base64') } }));

describe('a search for a text', () => {
  it.each([
    ['as it is', text],
    ['in base64', item(text)],
    ['deflated', deflateSync(text)],
    ['deflated without a header', deflateRawSync(text)],
    ['gzipped', gzipSync(text)],
    ['deflated in an attribute', item(deflateRawSync(text))],
    ['gzipped in an attribute', item(gzipSync(text))],
    ['deflated twice', deflateRawSync(item(deflateRawSync(text)))],
  ])('finds it %s', (_, bytes) => {
    expect(holdsText(bytes, secret)).toBe(true);
    expect(holdsText(bytes, 'another secret')).toBe(false);
  });

  it('finds what is deflated with the body of a request', () => {
    const body = Buffer.from(`{"key":"${secret}"}`);
    const bytes = item(deflateRawSync(text, { dictionary: body }));
    expect([holdsText(bytes, secret), holdsText(bytes, secret, [body])]).toEqual([false, true]);
  });
});
