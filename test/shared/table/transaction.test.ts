import { describe, expect, it } from 'vitest';
import { Transaction } from '../../../shared/table/transaction.ts';

const put = (sk: number, more = {}) => ({ put: { Item: { pk: 'p', sk: String(sk), ...more } } });

describe('Transaction', () => {
  it('takes 100 actions, counts down how many are left, and throws a TypeError for one more', () => {
    const transaction = new Transaction();
    expect(transaction.actionsLeft).toBe(100);
    for (let index = 0; index < 100; index++) transaction.add(put(index));
    expect(transaction.actionsLeft).toBe(0);
    expect(() => transaction.add(put(100))).toThrow(TypeError);
  });

  it.each([
    ['text', 'x'],
    ['bytes', new Uint8Array(1)],
  ])('takes less than 4 MB of %s and throws a TypeError for more', (_what, unit) => {
    const kilobytes = (count: number) => (typeof unit === 'string' ? unit.repeat(count * 1024) : new Uint8Array(count * 1024));
    const transaction = new Transaction();
    for (let index = 0; index < 10; index++) transaction.add(put(index, { data: kilobytes(400) }));
    expect(() => transaction.add(put(10, { data: kilobytes(95) }))).not.toThrow();
    expect(() => transaction.add(put(11, { data: kilobytes(2) }))).toThrow(TypeError);
  });

  it('counts the members of sets', () => {
    const transaction = new Transaction();
    const members = (count: number) => new Set(Array.from({ length: count }, (_, index) => `${index} `.padEnd(1024, 'x')));
    for (let index = 0; index < 10; index++) transaction.add(put(index, { members: members(400) }));
    expect(() => transaction.add(put(10, { members: members(100) }))).toThrow(TypeError);
  });

  it('counts the values of updates', () => {
    const transaction = new Transaction();
    const update = (sk: number) => ({
      update: {
        Key: { pk: 'p', sk: String(sk) },
        UpdateExpression: 'SET data = :data',
        ExpressionAttributeValues: { ':data': 'x'.repeat(3 * 1024 * 1024) },
      },
    });
    transaction.add(update(1));
    expect(() => transaction.add(update(2))).toThrow(TypeError);
  });

  it('throws a TypeError for a second action on one item, whatever they are', () => {
    const transaction = new Transaction();
    transaction.add(put(1), { delete: { Key: { pk: 'p', sk: '2' } } });
    expect(() => transaction.add({ check: { Key: { pk: 'p', sk: '1' }, ConditionExpression: 'a = b' } })).toThrow(TypeError);
    expect(() => transaction.add(put(2))).toThrow(TypeError);
  });
});
