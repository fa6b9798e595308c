import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { indexedLists } from '../../../shared/lists/indexed-list.ts';
import { changesUntilFoldCheck, rememberFoldCheck } from '../../../shared/lists/fold-schedule.ts';

let time = 0;
const document = DynamoDBDocumentClient.from(new DynamoDBClient({ region: 'local' }));
const table = { name: 'none', document, clock: { now: () => time, wait: () => Promise.resolve() } };
const { index } = indexedLists.computations('d1');
const other = indexedLists.computations('d2').index;

it('every 16th change of a list checks whether to fold, and for ten seconds fewer do after a check found that a fold needs many changes', () => {
  expect(changesUntilFoldCheck(table, index)).toBe(16);
  rememberFoldCheck(table, index, 32);
  expect(changesUntilFoldCheck(table, index)).toBe(16);
  rememberFoldCheck(table, index, 150);
  expect([changesUntilFoldCheck(table, index), changesUntilFoldCheck(table, other)]).toEqual([64, 16]);
  time += 9_999;
  expect(changesUntilFoldCheck(table, index)).toBe(64);
  time += 1;
  expect(changesUntilFoldCheck(table, index)).toBe(16);
});

it('after a check finds a short log, every 16th change checks again', () => {
  rememberFoldCheck(table, index, 640);
  expect(changesUntilFoldCheck(table, index)).toBe(256);
  rememberFoldCheck(table, index, 32);
  expect(changesUntilFoldCheck(table, index)).toBe(16);
});

it('a thousand quiet lists do not make more changes of a busy list check whether to fold', () => {
  rememberFoldCheck(table, index, 640);
  for (let number = 0; number < 1_000; number++) rememberFoldCheck(table, indexedLists.computations(`quiet-${number}`).index, 32);
  expect(changesUntilFoldCheck(table, index)).toBe(256);
});
