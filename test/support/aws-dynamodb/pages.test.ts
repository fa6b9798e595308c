import { QueryCommand, ScanCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnyKey } from '../../../shared/table/keys.ts';
import { startAwsTable, type AwsTable } from './aws-dynamodb.ts';
import { seededRandom } from '../seeded-random.ts';
import { commandsOn, keysIn, type TableCommands } from './table-commands.ts';
import { testClock, type TestClock } from '../test-clock.ts';

let clock: TestClock;
let aws: AwsTable;
let through: TableCommands;
let direct: TableCommands;
beforeAll(async () => {
  clock = testClock({ start: 0, speed: 0 });
  aws = await startAwsTable({ clock, maxAttempts: 1 });
  through = commandsOn(aws.table);
  direct = commandsOn(aws.direct);
  for (const [index, key] of keysIn('list', 60).entries()) await direct.put({ ...key, index, value: 'v'.repeat(index * 10) });
});
afterAll(() => aws.stop());

describe('a page read while nothing is written', () => {
  const random = seededRandom(3);
  const choose = <T>(...values: T[]): T => values[Math.floor(random() * values.length)] as T;
  const sk = () => `item-${String(Math.floor(random() * 70)).padStart(3, '0')}`;
  const input = (): QueryCommandInput => {
    const condition = choose('pk = :pk', '#pk = :pk and begins_with(sk, :from)', 'sk between :from and :to and pk = :pk');
    const [from, to] = condition.includes('begins_with') ? ['item-0', undefined] : [sk(), sk()].sort();
    const projection = choose<string | undefined>(undefined, undefined, 'pk, sk', 'sk, #index', '#index, details.nested');
    const filter = choose<string | undefined>(undefined, undefined, undefined, '#index > :zero');
    const names = { '#pk': 'pk', '#index': 'index' };
    const values = { ':pk': 'list', ':from': from, ':to': to, ':zero': 20 };
    const used = <T>(all: Record<string, T>) =>
      Object.fromEntries(
        Object.entries(all).filter(([name]) => [condition, projection, filter].join(' ').match(new RegExp(`${name}\\b`))),
      );
    return {
      TableName: aws.table.name,
      KeyConditionExpression: condition,
      ProjectionExpression: projection,
      FilterExpression: filter,
      ...(Object.keys(used(names)).length > 0 && { ExpressionAttributeNames: used(names) }),
      ExpressionAttributeValues: used(values),
      ScanIndexForward: choose(true, false),
      ConsistentRead: choose(true, false),
      Limit: choose(undefined, 1, 7, 30, 60, 61),
      ExclusiveStartKey: choose(undefined, undefined, { pk: 'list', sk: 'item-030' }),
      ReturnConsumedCapacity: 'TOTAL',
    };
  };

  it('is the page that the engine gives, for 60 random queries', async () => {
    let items = 0;
    for (let query = 0; query < 60; query++) {
      const command = () => new QueryCommand({ ...next });
      const next = input();
      if (next.KeyConditionExpression?.includes('between')) delete next.ExclusiveStartKey;
      const [ours, engines] = [await aws.table.document.send(command()), await aws.direct.document.send(command())];
      expect({ ...ours, $metadata: null }, JSON.stringify(next)).toEqual({ ...engines, $metadata: null });
      items += ours.Items?.length ?? 0;
    }
    expect(items).toBeGreaterThan(300);
  });

  it('counts without items, and scans, as the engine does', async () => {
    const { name: TableName } = aws.table;
    const count = new QueryCommand({
      TableName,
      Select: 'COUNT',
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': 'list' },
    });
    expect(await aws.table.document.send(count)).toMatchObject({ Count: 60 });
    const page = new ScanCommand({ TableName, Limit: 45, ReturnConsumedCapacity: 'TOTAL' });
    const [ours, engines] = [await aws.table.document.send(page), await aws.direct.document.send(page)];
    expect({ ...ours, $metadata: null }).toEqual({ ...engines, $metadata: null });
    expect([ours.Count, ours.LastEvaluatedKey]).toEqual([45, expect.anything()]);
  });

  it('ends before it exceeds 1 MB, with the key of the next page', async () => {
    const keys = keysIn('megabytes', 5);
    for (const key of keys) await direct.put({ ...key, value: 'v'.repeat(390_000) });
    const first = await through.query('megabytes', { ProjectionExpression: 'pk, sk' });
    expect(first).toEqual({ items: keys.slice(0, 2), lastKey: keys[1] });
    const second = await through.query('megabytes', { ExclusiveStartKey: first.lastKey, ScanIndexForward: true });
    expect([second.items.length, second.lastKey]).toEqual([2, keys[3]]);
    expect(await direct.query('megabytes', { ExclusiveStartKey: first.lastKey })).toEqual(second);
  });
});

describe('reads of several items', () => {
  it('show an earlier item of a page before its change and a later item after a later change', async () => {
    const slow = await startAwsTable({ clock, betweenReadsInMilliseconds: 10, maxAttempts: 1 });
    const commands = commandsOn(slow.table);
    const keys = keysIn('slow', 12) as [AnyKey, ...AnyKey[]];
    const last = keys.at(-1) ?? keys[0];
    const sightOf = (items: { [name: string]: unknown }[]) =>
      [keys[0], last].map(({ sk }) => items.find((item) => item['sk'] === sk)?.['count']);
    try {
      for (const key of keys) await commands.put(key);
      const page = commands.query('slow');
      await clock.untilTimers(1);
      await commands.count(keys[0]);
      await commands.count(last);
      while (await isWaiting(page)) await clock.advance(10);
      expect(sightOf((await page).items)).toEqual([undefined, 1]);
    } finally {
      await slow.stop();
    }
  });

  it('show each item of a batch as it was at a different moment', async () => {
    const slow = await startAwsTable({ clock, betweenReadsInMilliseconds: 10, maxAttempts: 1, seed: 2 });
    const commands = commandsOn(slow.table);
    const keys = keysIn('slow batch', 4);
    try {
      const batch = commands.batchGet(keys);
      for (const [count] of keys.entries()) {
        await clock.untilTimers(1);
        for (const key of keys) await commands.put({ ...key, count });
        await clock.advanceToNext();
      }
      const { items } = await batch;
      expect(items.map((item) => item['count']).sort()).toEqual([0, 1, 2, 3]);
    } finally {
      await slow.stop();
    }
  });
});

/** Waits until a read pauses or ends, and tells whether it pauses. */
async function isWaiting(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol('open');
  return (await Promise.race([promise, clock.untilTimers(1).then(() => open)])) === open;
}
