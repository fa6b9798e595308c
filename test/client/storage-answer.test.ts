import { expect, it } from 'vitest';
import { storageAnswer } from '../../client/storage-answer.ts';

it.each([
  [200, 'arrived'],
  [204, 'arrived'],
  [412, 'arrived'],
  [403, 'expired'],
  [409, 'again'],
  [429, 'again'],
  [500, 'again'],
  [503, 'again'],
  [301, 'refused'],
  [400, 'refused'],
  [404, 'refused'],
] as const)('the answer %i of storage to an upload means %s', (status, answer) => {
  expect(storageAnswer(status)).toBe(answer);
});
