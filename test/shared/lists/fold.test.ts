import { expect, it } from 'vitest';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { groupOfOwner, indexedLists, memberChange } from '../../../shared/lists/indexed-list.ts';
import { logChange } from '../../../shared/lists/log.ts';
import { readHead } from '../../../shared/lists/head.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { changesLists } from '../../../shared/runtime/uses.ts';
import { startProxiedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const proxied = sharedByTests(() => startProxiedTable({ latencyInMilliseconds: 0 }));

const list = indexedLists.computations('d1');

function changeOf(number: number, version: number, change: { before?: 'created'; now: 'created' | 'running' }) {
  const changes = [memberChange(list, number, { ...change, group: groupOfOwner('ann') })];
  return logChange(list.index, number, { version, changes });
}

it('folds call what functions that change lists may call, and nothing else', async () => {
  let time = Date.parse('2026-01-01T00:00:00Z');
  const fold = async () => {
    await foldChanges({ ...proxied.table, clock: { now: () => time, wait: () => Promise.resolve() } }, list.index, 1);
    time += 10_000;
  };
  const creates = Array.from({ length: 1_200 }, (_, index) => changeOf(index + 1, 1, { now: 'created' }));
  for (let start = 0; start < creates.length; start += 100) await transact(proxied.direct, creates.slice(start, start + 100));
  await fold();
  // Its entry has a step that is folded, and one that is not. Its leaf is no longer the last one.
  await transact(proxied.direct, [changeOf(1, 2, { before: 'created', now: 'running' })]);
  for (let times = 0; times < 3; times++) await fold();
  const operations = new Set(proxied.proxy.calls.map(({ operation }) => operation));
  expect([...operations].sort()).toEqual([...changesLists].sort());
});

it('a fold leaves earlier folds in the stages that they have reached', async () => {
  const { index } = indexedLists.computations('stages');
  let time = Date.parse('2026-01-01T00:00:00Z');
  const stages: unknown[] = [];
  for (let number = 1; number <= 4; number++) {
    const member = memberChange(list, number, { now: 'created', group: groupOfOwner('ann') });
    await transact(proxied.direct, [logChange(index, number, { version: 1, changes: [member] })]);
    await foldChanges({ ...proxied.direct, clock: { now: () => time, wait: () => Promise.resolve() } }, index, 1);
    stages.push((await readHead(proxied.direct, index)).folds.map(({ stage }) => stage));
    time += 5_000;
  }
  expect(stages).toStrictEqual([['seen'], ['cleared', 'seen'], ['cleared', 'seen'], ['cleared', 'seen']]);
});

it('earlier folds go on when the clock has been set back by a day, and as late as before', async () => {
  const { index } = indexedLists.computations('set-back');
  let time = Date.parse('2026-01-02T00:00:00Z');
  const fold = async () => {
    await foldChanges({ ...proxied.direct, clock: { now: () => time, wait: () => Promise.resolve() } }, index, 1);
    return (await readHead(proxied.direct, index)).folds.map(({ stage, at }) => [stage, at]);
  };
  const member = memberChange(list, 1, { now: 'created', group: groupOfOwner('ann') });
  await transact(proxied.direct, [logChange(index, 1, { version: 1, changes: [member] })]);
  expect(await fold()).toEqual([['seen', time]]);
  time -= 86_400_000;
  const setBack = time;
  expect(await fold()).toEqual([['seen', setBack]]);
  time += 3_999;
  expect(await fold()).toEqual([['seen', setBack]]);
  time += 1;
  expect(await fold()).toEqual([['cleared', time]]);
  time -= 2_000; // as much as two clocks may differ
  expect(await fold()).toEqual([['cleared', time + 2_000]]);
  time += 6_000;
  expect(await fold()).toEqual([]);
});
