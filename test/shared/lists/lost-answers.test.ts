import { expect, it } from 'vitest';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { groupOfOwner, indexedLists, memberChange } from '../../../shared/lists/indexed-list.ts';
import { logChange } from '../../../shared/lists/log.ts';
import { selectMembers } from '../../../shared/lists/select-members.ts';
import { withSnapshot } from '../../../shared/lists/snapshot.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { startProxiedTable } from '../../support/proxied-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const proxied = sharedByTests(() => startProxiedTable({ latencyInMilliseconds: 0 }));

const list = indexedLists.computations('d1');
const members = 1_200;

function create(number: number) {
  const changes = [memberChange(list, number, { now: 'created', group: groupOfOwner('ann') })];
  return logChange(list.index, number, { version: 1, changes });
}

it('a fold whose commit loses its answer keeps all that the head refers to', async () => {
  const creates = Array.from({ length: members }, (_, index) => create(index + 1));
  for (let start = 0; start < members; start += 100) await transact(proxied.direct, creates.slice(start, start + 100));
  // The first item that a fold puts is its plan, the second one is the head. The SDK repeats that write, and meets its own.
  proxied.proxy.inject({ kind: 'lost-answer', share: 1, operations: ['PutItem'], after: 1, times: 1 });
  await foldChanges(proxied.table, list.index, 1);
  expect(proxied.proxy.faults()).toBe(1);
  const { total, numbers } = await withSnapshot(proxied.direct, list.index, async (snapshot) =>
    selectMembers(await snapshot.view('c'), { group: '', states: new Set([1]) }, { offset: 0, limit: members }),
  );
  expect(total).toBe(members);
  expect(numbers).toHaveLength(members);
});
