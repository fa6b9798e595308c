import { describe, expect, it } from 'vitest';
import { digestOfRequest, idempotencyKeyOf } from '../../../shared/http/idempotency-key.ts';
import type { Received } from '../../../shared/http/received.ts';

const received: Received = {
  method: 'PUT',
  headers: { 'idempotency-key': 'k' },
  path: { domainID: 'd1', id: 'x' },
  query: { a: '1', b: '2' },
  body: '{"name":"N"}',
  isBase64Encoded: false,
};

describe('idempotencyKeyOf', () => {
  it('returns 1 to 255 printable ASCII characters, and undefined without the header or for a GET', () => {
    const keyOf = (key: string, method = 'POST') =>
      idempotencyKeyOf({ ...received, method, headers: { 'idempotency-key': key } }) ?? '';
    expect([keyOf('a b~!'), keyOf('x'.repeat(255)).length]).toEqual(['a b~!', 255]);
    expect(keyOf('x'.repeat(256), 'GET')).toBe('');
    expect(idempotencyKeyOf({ ...received, headers: {} })).toBeUndefined();
  });

  it.each(['', 'x'.repeat(256), 'ä', '\u007f', 'a\u0000'])('refuses %j', (key) => {
    expect(() => idempotencyKeyOf({ ...received, headers: { 'idempotency-key': key } })).toThrow('Idempotency-Key');
  });
});

describe('digestOfRequest', () => {
  it('is the same for the same path, query, body bytes and If-Match, however they are encoded or ordered', () => {
    const inBase64 = { body: Buffer.from('{"name":"N"}').toString('base64'), isBase64Encoded: true };
    const same: Received[] = [
      { ...received, ...inBase64 },
      { ...received, query: { b: '2', a: '1' } },
      { ...received, headers: { 'idempotency-key': 'other', 'user-agent': 'other' } },
    ];
    expect(new Set([received, ...same].map(digestOfRequest)).size).toBe(1);
  });

  it('differs if one of them differs, or if a part moves to another', () => {
    const others: Received[] = [
      { ...received, path: { domainID: 'd1', id: 'y' } },
      { ...received, query: { a: '1' } },
      { ...received, query: {} },
      { ...received, query: { a: '1', b: '2', c: '' } },
      { ...received, body: '{"name": "N"}' },
      { ...received, body: undefined },
      { ...received, headers: { 'if-match': '' } },
      { ...received, headers: { 'if-match': '"1"' } },
      { ...received, query: { domainID: 'd1', id: 'x' }, path: { a: '1', b: '2' } },
    ];
    expect(new Set([received, ...others].map(digestOfRequest)).size).toBe(others.length + 1);
  });
});
