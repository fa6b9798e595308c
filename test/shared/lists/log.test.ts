import { describe, expect, it } from 'vitest';
import { emptyHead, type Head } from '../../../shared/lists/head.ts';
import {
  attributesUpTo,
  decodeStep,
  logChange,
  parseEntry,
  type LogEntry,
  type MemberChange,
  type Step,
  type StoredStep,
} from '../../../shared/lists/log.ts';
import { differencesOf, missingBefore, unfoldedEntries, versionsOf } from '../../../shared/lists/unfolded-entries.ts';

const index = { scope: 'computations#d1', logShards: 2, trees: { c: 'o', r: undefined } };

/** The entry of a resource after its steps were logged. */
function logged(resource: number, steps: Step[], name?: string): LogEntry<StoredStep> {
  const item: Record<string, unknown> = {};
  for (const step of steps) {
    const { update } = logChange(index, resource, step, name);
    const values = update?.ExpressionAttributeValues ?? {};
    Object.assign(item, update?.Key, {
      version: values[':version'],
      [update?.ExpressionAttributeNames?.['#step'] ?? '']: values[':step'],
    });
  }
  return parseEntry(item);
}

const decoded = (entry: LogEntry<StoredStep>): LogEntry => ({ ...entry, steps: entry.steps.map(decodeStep) });

const change = (fields: Partial<MemberChange>): MemberChange => ({ list: 'c', number: 1_000, before: 0, now: 1, ...fields });
const step = (version: number, ...changes: MemberChange[]): Step => ({ version, changes });

describe('a logged change', () => {
  it.each<[string, Step]>([
    ['a new member', step(1, change({}))],
    ['a member with a group', step(2, change({ group: 'o:alice', before: 2, now: 7 }))],
    ['a member with a group and the one before', step(3, change({ group: 'a', groupBefore: 'b', number: 2 ** 40 }))],
    ['a member with an empty group', step(3, change({ group: '' }))],
    ['several members', step(4, change({}), change({ list: 'r', number: 35, before: 6, now: 0 }))],
    ['a status on a day', { ...step(5, change({})), entered: { day: 20_778, state: 2 } }],
    ['what comes before', { ...step(6, change({})), after: { name: 'rs', version: 12 } }],
  ])('is read as it was written with %s', (_what, written) => {
    expect(decoded(logged(36, [written]))).toEqual({ log: 'log#computations#d1#0', name: '10', steps: [written] });
  });

  it('is read in the order of the versions, from 10 on too', () => {
    const steps = [2, 9, 10, 11].map((version) => step(version, change({ now: version % 8 })));
    expect(decoded(logged(35, steps.toReversed()))).toEqual({ log: 'log#computations#d1#1', name: 'z', steps });
  });

  it('has an attribute for each step', () => {
    const entry = logged(
      1,
      [2, 9, 10, 11].map((version) => step(version, change({}))),
    );
    expect(attributesUpTo(entry, 10)).toEqual(['s2', 's9', 's10']);
    expect(attributesUpTo(entry, 1)).toEqual([]);
  });

  it.each([undefined, '1', 1.5])('is refused without the version of its last step: %j', (version) => {
    expect(() => parseEntry({ pk: 'log#computations#d1#0', sk: 'a', version, s1: 'c0110' })).toThrow('version');
  });

  it.each(['x', 'c8010', 'c1', '1:', '>a', '>a:1 c1', 'c01rs>a', 'c01rs/a/b/c'])('is refused if it is damaged: %j', (text) => {
    const read = () => decoded(parseEntry({ pk: 'log#computations#d1#0', sk: 'a', version: 1, s1: text }));
    expect(read).toThrow('damaged');
  });
});

const head = (...entries: [string, number][]): Head => ({
  ...emptyHead,
  folds: [{ name: 'f', stage: 'committed', at: 0, entries: new Map(entries) }],
});
const [first, second] = [
  logged(1, [step(1, change({ number: 1 })), step(2, change({ number: 1, before: 1, now: 2 }))], 'a'),
  logged(2, [step(5, change({ number: 2 }))], 'b'),
];

describe('unfoldedEntries', () => {
  it('leaves out the steps that the trees contain, and entries without others', () => {
    const [ofFirst, ofSecond] = [decoded(first), decoded(second)];
    expect(unfoldedEntries(emptyHead, [first, second])).toEqual([ofFirst, ofSecond]);
    expect(unfoldedEntries(head(['a', 1], ['b', 5]), [first, second])).toEqual([{ ...ofFirst, steps: ofFirst.steps.slice(1) }]);
    expect(unfoldedEntries(head(['a', 2], ['b', 4]), [first, second])).toEqual([ofSecond]);
  });

  it('takes the last version of an entry that several folds name', () => {
    const folds = [head(['a', 1]), head(['a', 2]), head(['b', 4])].flatMap((each) => each.folds);
    for (const inHead of [folds, folds.toReversed()]) {
      expect(unfoldedEntries({ ...emptyHead, folds: inHead }, [first, second])).toEqual([decoded(second)]);
    }
  });

  it('does not decode what the trees contain', () => {
    const broken = { ...first, steps: first.steps.map((each) => ({ ...each, text: 'x' })) };
    expect(unfoldedEntries(head(['a', 2]), [broken, second])).toEqual([decoded(second)]);
    expect(() => unfoldedEntries(head(['a', 1]), [broken])).toThrow('damaged');
  });
});

describe('versionsOf', () => {
  it('names the version of the last step of each entry', () => {
    expect(versionsOf([first, second])).toEqual(
      new Map([
        ['a', 2],
        ['b', 5],
      ]),
    );
  });
});

describe('missingBefore', () => {
  const after = (name: string, version: number) => logged(3, [{ ...step(1, change({})), after: { name, version } }], 'c');

  it('names the step that another one depends on if neither the log nor the head contains it', () => {
    expect(missingBefore(emptyHead, [after('a', 2)])).toEqual(['a:2']);
    expect(missingBefore(emptyHead, [after('a', 1)])).toEqual(['a:1']);
    expect(missingBefore(emptyHead, [after('a', 2), first])).toEqual([]);
    expect(missingBefore(emptyHead, [after('a', 3), first])).toEqual(['a:3']);
    expect(missingBefore(head(['a', 2]), [after('a', 2)])).toEqual([]);
    expect(missingBefore(head(['a', 1]), [after('a', 2)])).toEqual(['a:2']);
    expect(missingBefore(head(['a', 3]), [after('a', 3), first])).toEqual([]);
    expect(missingBefore(emptyHead, [first, second])).toEqual([]);
  });
});

describe('differencesOf', () => {
  const differences = (...entries: LogEntry<StoredStep>[]) => Object.fromEntries(differencesOf(index, entries.map(decoded)));
  const ofAlice = { number: 1, group: 'alice' };

  it('takes the changes of a member together, in the list and by group', () => {
    const entries = [
      logged(1, [step(3, change({ ...ofAlice, before: 2, now: 3 }))], 'a'),
      logged(2, [step(2, change({ ...ofAlice, before: 1, now: 2 }))], 'b'),
    ];
    const between = { number: 1, before: 1, now: 3 };
    expect(differences(...entries)).toEqual({ c: [{ group: '', ...between }], o: [{ group: 'alice', ...between }], r: [] });
  });

  it('leaves out members that were added and removed again, or changed and changed back', () => {
    const gone = logged(1, [step(1, change(ofAlice)), step(2, change({ ...ofAlice, before: 1, now: 0 }))]);
    const back = logged(2, [
      step(1, change({ number: 2, before: 1, now: 2 })),
      step(2, change({ number: 2, before: 2, now: 1 })),
    ]);
    expect(differences(gone, back)).toEqual({ c: [], o: [], r: [] });
  });

  it('moves a member between groups without a change in the list', () => {
    const moved = logged(1, [step(1, change({ number: 1, before: 1, now: 1, group: 'bob', groupBefore: 'alice' }))]);
    expect(differences(moved)).toEqual({
      c: [],
      o: [
        { group: 'alice', number: 1, before: 1, now: 0 },
        { group: 'bob', number: 1, before: 0, now: 1 },
      ],
      r: [],
    });
    const onAndBack = logged(1, [
      step(1, change({ number: 1, before: 1, now: 1, group: 'bob', groupBefore: 'alice' })),
      step(2, change({ number: 1, before: 1, now: 2, group: 'alice', groupBefore: 'bob' })),
    ]);
    expect(differences(onAndBack)['o']).toEqual([{ group: 'alice', number: 1, before: 1, now: 2 }]);
  });

  it('sorts by place', () => {
    const entries = [3, 1, 2].map((number) => logged(number, [step(1, change({ number, list: 'r' }))]));
    expect(differences(...entries)['r']?.map(({ number }) => number)).toEqual([1, 2, 3]);
  });
});
