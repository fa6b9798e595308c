import { expect, it } from 'vitest';
import { storageAnswer } from '../../../../packages/client/transfer/send-to-storage.ts';

it.each([
  [200, 'arrived'],
  [204, 'arrived'],
  [412, 'arrived'],
  [403, 'expired'],
  [408, 'again'],
  [409, 'again'],
  [429, 'again'],
  [500, 'again'],
  [503, 'again'],
  [301, 'refused'],
  [400, 'refused'],
  [404, 'refused'],
] as const)('the answer %i of storage to an upload means %s', (status, answer) => {
  expect(storageAnswer(status, '')).toBe(answer);
});

it('the answer 400 of storage means again if the content arrived too slowly', () => {
  const body = '<?xml version="1.0"?><Error><Code>RequestTimeout</Code><Message>Idle.</Message></Error>';
  expect(storageAnswer(400, body)).toBe('again');
  expect(storageAnswer(400, body.replace('RequestTimeout', 'EntityTooLarge'))).toBe('refused');
});
