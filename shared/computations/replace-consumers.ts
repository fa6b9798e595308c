import { computationKeys, userKeys } from '../table/keys.ts';
import type { Transaction } from '../table/transaction.ts';
import { computationNumber } from './find-computation.ts';

/** Replaces the users whom a computation names as result consumers. Adds nothing if they stay the same. */
export function replaceConsumers(
  transaction: Transaction,
  { domain, id }: { domain: string; id: string },
  { before, after }: { before: string[]; after: string[] },
): void {
  if (isSameList(before, after)) return;
  const key = computationKeys.consumers(id);
  transaction.add(after.length > 0 ? { put: { Item: { ...key, consumers: after } } } : { delete: { Key: key } });
  const placeOf = (user: string) => userKeys.consumer(domain, user, computationNumber(id));
  for (const user of difference(after, before)) transaction.add({ put: { Item: { ...placeOf(user) } } });
  for (const user of difference(before, after)) transaction.add({ delete: { Key: placeOf(user) } });
}

export function isSameList(before: string[], after: string[]): boolean {
  return before.length === after.length && before.every((user, index) => user === after[index]);
}

function difference(users: string[], others: string[]): string[] {
  return users.filter((user) => !others.includes(user));
}
