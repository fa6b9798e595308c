import { keysOf, markPartitions, rootOf } from 'computation-management-counted-list/keys';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { keysToChange } from '../../../shared/rows/change-computation.ts';
import {
  approvedKeys,
  answerKeys,
  type AnyKey,
  assetKeys,
  computationKeys,
  contentCheckKeys,
  cvmKeys,
  findKeys,
  journalKeys,
  type Key,
  keyToWrite,
  limitKeys,
  logKeys,
  listKeys,
  lists,
  purgeKeys,
  runKeys,
  recheckKeys,
  schemaKeys,
  sweepKeys,
  todoKeys,
  waitKeys,
  writableKey,
} from '../../../shared/table/keys.ts';
import type { Table } from '../../../shared/table/table.ts';
import { deleteItemIf, deleteItems, putItem } from '../../../shared/table/writes.ts';
import { Transaction } from '../../../shared/table/transaction.ts';
import { keysOfCvm } from '../../../shared/cvms/read-cvms.ts';

// What is stored must be found again, so these places never change without a migration.

describe('listKeys', () => {
  const list = lists.runs('d1');

  it('places the row of a member by its number with 15 digits', () => {
    expect(listKeys.row(list, 4711)).toEqual({ pk: 'runs#d1', sk: 'row#000000000004711' });
  });
});

describe('computationKeys', () => {
  it('places all parts of a definition below the prefix by which they are read, and no key', () => {
    const { algorithm, config, dataset, prefixes, userKey } = computationKeys;
    const parts = [config('c'), algorithm('c'), dataset('c', 'iris.csv')];
    expect(parts.map(({ sk }) => sk.startsWith(prefixes.part))).toEqual([true, true, true]);
    expect(dataset('c', 'iris.csv').sk.startsWith(prefixes.dataset)).toBe(true);
    expect(userKey('c', 'alice').sk.startsWith(prefixes.part)).toBe(false);
  });
});

describe('the key of a row with a single writer', () => {
  it('does not compile as a key to write', () => {
    const key = listKeys.row(lists.runs('d1'), 1);
    const writes = (table: Table, pk: string) => [
      // @ts-expect-error: only the writer of runs may write this row
      () => putItem(table, { ...key, name: 'x' }),
      // @ts-expect-error: only the writer of runs may delete this row
      () => deleteItemIf(table, key, { ConditionExpression: 'attribute_exists(pk)' }),
      // @ts-expect-error: only the writer of runs may put this row into a transaction
      () => new Transaction().add({ delete: { Key: key } }),
      // @ts-expect-error: as the key of any item it can only be read
      () => putItem(table, { ...(key as AnyKey), name: 'x' }),
      // @ts-expect-error: it is no key that any file may write
      () => key satisfies Key,
      // @ts-expect-error: only the writer of computations may delete the row among these
      () => deleteItems(table, keysToChange('d1', 'id')),
      // @ts-expect-error: only the writer of claims may delete the claim among these
      () => deleteItems(table, keysOfCvm({ domain: 'd1', cvmId: 'cvm-1' })),
      // @ts-expect-error: this is the list of runs
      () => listKeys.row({ ...lists.cvms('d1'), pk: lists.runs('d1').pk }, 1) satisfies Key,
      // @ts-expect-error: no list is known by a partition that may be any
      () => listKeys.row({ ...lists.cvms('d1'), pk }, 1),
    ];
    expect(writes).toBeTypeOf('function');
    expect(keyToWrite(key)).toEqual({ pk: 'runs#d1', sk: 'row#000000000000001' });
  });

  it.each<[string, AnyKey]>([
    ['a computation', listKeys.row(lists.computations('d1'), 1)],
    ['a run', listKeys.row(lists.runs('d1'), 1)],
    ['an asset', listKeys.row(lists.assets('d1'), 1)],
    ['a claim', cvmKeys.claim('d1', 'cvm-1')],
  ])('is not made again from that of %s', (_what, { pk, sk }) => {
    expect(() => writableKey(pk, sk)).toThrow(TypeError);
  });
});

describe('the key of any other item', () => {
  it.each<[string, Key]>([
    ['a row that any file may write', listKeys.row(lists.linkedComputations('a'), 1)],
    ['the counter of a list', listKeys.counter(lists.runs('d1'))],
  ])('is made from that of %s', (_what, key) => {
    expect(writableKey(key.pk, key.sk)).toEqual(key);
  });

  it('does not compile if it is put together or parsed', () => {
    const { pk, sk } = journalKeys.head('c');
    const parsed = v.parse(v.object({ pk: v.string(), sk: v.string() }), { pk, sk });
    // @ts-expect-error: it is put together
    expect({ pk, sk } satisfies Key).toEqual(parsed satisfies AnyKey);
    // @ts-expect-error: it is parsed
    expect(parsed satisfies Key).toEqual({ ['pk']: pk, ['sk']: sk } satisfies AnyKey);
  });
});

const at = '2026-01-01T00:00:00.000Z';
const [list, owned] = [keysOf('computations#d1'), keysOf('owned#d1/a')];

describe('the place of', () => {
  it.each<[string, AnyKey, string]>([
    ['the counter of a list', listKeys.counter(lists.runs('d1')), 'counter#runs#d1 counter'],
    ['a configuration', computationKeys.config('c'), 'computation#c part#config'],
    ['a linked algorithm', computationKeys.algorithm('c'), 'computation#c part#algorithm'],
    [
      'a linked dataset',
      computationKeys.dataset('c', 'iris.csv'),
      'computation#c part#dataset#q3yrtcGT8nYW1sR5tYgEQasTEXvr6R_d3Hl73-iNPgg',
    ],
    ['the named consumers', computationKeys.consumers('c'), 'computation#c part#consumers'],
    ["a participant's key", computationKeys.userKey('c', 'u'), 'computation#c key#u'],
    ['an approval', computationKeys.approval('c', 'u'), 'computation#c approval#u'],
    ['a word of a name', findKeys.place('d1', 'asset', 'word#iris', 7), 'find#d1#asset word#iris\t9007199254740984'],
    ['an indexed name', findKeys.known('d1', 'asset', 7), 'find#d1#asset of#000000000000007'],
    ['a part of a log', logKeys.chunk('c', 'r', 7, 'g#0'), 'logs#c r#000000000000007#g#0'],
    ['what was approved', approvedKeys.approved('c', 'u'), 'approved#c u'],
    ['what waits for a user', todoKeys.user('d1', 7, 'u'), 'todo#d1#1 of#000000000000007#user#u'],
    ['what waits in a computation', todoKeys.head('d1', 7), 'todo#d1#1 of#000000000000007#head'],
    ['what was seen of an asset', todoKeys.asset('d1', 7), 'todo#d1#1 asset#000000000000007'],
    ['an invitation', todoKeys.invitation('d1', 'u', 'o', 7), 'todo#d1#3 invited#u#o#000000000000007'],
    ['the refusals to read', todoKeys.refusals('d1', 'u'), 'todo#d1#3 refusals#u'],
    ['a computation to look at again', recheckKeys.recheck('2025', 'computation#d1#7'), 'rechecks#6 2025#computation#d1#7'],
    ['a refusal', computationKeys.refusal('c', 'u'), 'computation#c refusal#u'],
    ['the head of a journal', journalKeys.head('c'), 'journal#c head'],
    ['the latest event', journalKeys.latest('c'), 'journal#c latest'],
    ['an event', journalKeys.event('c', 7), 'journal#c event#000000000007'],
    ['a segment of events', journalKeys.segment('c', at, 7), `journal#c segment#${at}#000000000007`],
    ['the snapshot of a run', runKeys.snapshot('c', 'r'), 'runs-of#c snapshot#r'],
    ['the key of a run', runKeys.serverKey('c', 'r'), 'runs-of#c server-key#r'],
    ['a report', runKeys.report('c', 'r', 'x'), 'runs-of#c report#r#x'],
    ['the attestation of a run', runKeys.attestation('c', 'r'), 'runs-of#c attestation#r'],
    ['evidence', runKeys.evidence('c', 'r'), 'runs-of#c evidence#r'],
    ['an asset that a run uses', runKeys.use('c', 'r', 'a'), 'runs-of#c use#r#a'],
    ['a CVM', cvmKeys.cvm('d1', 'v'), 'cvm#d1#v cvm'],
    ['a claim', cvmKeys.claim('d1', 'v'), 'claims#7 d1#v'],
    ['a command', cvmKeys.command({ domain: 'd1', cvm_id: 'v', run_id: 'r' }, 'run'), 'commands#d1#v r#run'],
    [
      'the notice of a command',
      cvmKeys.pending({ domain: 'd1', cvm_id: 'v', run_id: 'r' }, 'stop'),
      'pending-commands#3 d1#v#r#stop',
    ],
    ['the record of an agent', cvmKeys.agent('d1', 'v'), 'agent#d1#v agent'],
    ['the tokens of an agent process', cvmKeys.process('d1', 'v', 'p'), 'agent#d1#v process#p'],
    ['a run that used an asset', assetKeys.use('a', 'r'), 'uses#a r'],
    ['the reads of content', assetKeys.contentReads('a'), 'content-reads#a latest'],
    ['a content check', contentCheckKeys.check(at, 'x'), `content-checks#5 ${at}#x`],
    ['the slot of a wait', waitKeys.slot('e', 7), 'waits#e slot#0007'],
    ['the schema version', schemaKeys.version, 'schema version'],
    ['the roots of verdicts', schemaKeys.roots, 'schema roots'],
    ['a kept answer', answerKeys.answer('d1', ['a', 'b']), 'answers#d1#0 BHPvLcDTJKtlnTWAwRNOnYEgNZBcR4H91tUpsMaGDhM'],
    ['the state of the sweep', sweepKeys.state, 'sweep state'],
    ['the limit of a domain', limitKeys.changes('d1'), 'limit#d1 changes'],
    ['a purge', purgeKeys.purge('asset', 'a'), 'purges#2 asset#a'],
    ['the mark of a list', owned.mark, `due-lists#5 owned#d1/a`],
    ['a logged change of a list', owned.entry(47), 'log#owned#d1#1 a/1b'],
    ['the head of a list', list.head, 'index#computations#d1 /head'],
    ['the root of a tree', owned.node(rootOf('n')), 'index#owned#d1 a/root#n'],
    ['a plan of a fold', list.plan('n'), 'index#computations#d1 /plan#n'],
    ['a node of a tree', list.node('1a.2b'), 'nodes#computations#d1#7 /1a.2b'],
  ])('%s never changes', (_what, { pk, sk }, place) => {
    expect(`${pk} ${sk}`).toBe(place);
  });
});

describe('the partitions of', () => {
  const eight = (place: string) => Array.from({ length: 8 }, (_, shard) => `${place}#${shard}`);

  it.each([
    ['claims', cvmKeys.claimShards, eight('claims')],
    ['content checks', contentCheckKeys.shards, eight('content-checks')],
    ['purges', purgeKeys.shards, eight('purges')],
    ['marks of lists', markPartitions, eight('due-lists')],
    ['notices of commands', cvmKeys.pendingShards, eight('pending-commands').slice(0, 4)],
    [
      'a list',
      list.partitions,
      ['log#computations#d1#0', 'log#computations#d1#1', 'index#computations#d1', ...eight('nodes#computations#d1')],
    ],
  ])('%s never change', (_what, partitions, expected) => {
    expect(partitions).toEqual(expected);
  });
});
