import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { indexedLists } from '../../../shared/lists/indexed-list.ts';
import { noteLook, changesUntilLook } from '../../../shared/lists/looks.ts';
import { documentClient } from '../../../shared/table/document-client.ts';

let time = 0;
const document = documentClient(new DynamoDBClient({ region: 'local' }));
const table = { name: 'none', document, clock: { now: () => time, wait: () => Promise.resolve() } };
const { index } = indexedLists.computations('d1');
const other = indexedLists.computations('d2').index;

it('every 16th change of a list looks at its log, and for ten seconds fewer do after a look found that a fold needs many', () => {
  expect(changesUntilLook(table, index)).toBe(16);
  noteLook(table, index, 32);
  expect(changesUntilLook(table, index)).toBe(16);
  noteLook(table, index, 150);
  expect([changesUntilLook(table, index), changesUntilLook(table, other)]).toEqual([64, 16]);
  time += 9_999;
  expect(changesUntilLook(table, index)).toBe(64);
  time += 1;
  expect(changesUntilLook(table, index)).toBe(16);
});

it('a look that finds a short log again makes every 16th change look', () => {
  noteLook(table, index, 640);
  expect(changesUntilLook(table, index)).toBe(256);
  noteLook(table, index, 32);
  expect(changesUntilLook(table, index)).toBe(16);
});

it('a thousand quiet lists leave it as it is that fewer changes of a busy one look', () => {
  noteLook(table, index, 640);
  for (let number = 0; number < 1_000; number++) noteLook(table, indexedLists.computations(`quiet-${number}`).index, 32);
  expect(changesUntilLook(table, index)).toBe(256);
});
