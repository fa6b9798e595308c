import type { Schemas } from 'computation-management-client';
import { approvalRows, describeMissing } from 'computation-management-words';
import { describe, expect, it } from 'vitest';

const nobody = { user: null, by: null, at: null };

const approval = (user: string, fields: Partial<Schemas['Approval']> = {}) => ({
  user,
  digest: '',
  configuration_digest: '',
  cvm_ids: null,
  expires_at: null,
  max_runs: null,
  used_runs: null,
  approval_id: null,
  journal_head: null,
  signed: false,
  stale: false,
  stale_because: null,
  approved_at: '',
  ...fields,
});

describe('approval rows', () => {
  it('show what is needed first, then what was given without need', () => {
    const rows = approvalRows({
      needed: [{ user: 'bob', because: ['penguins.csv'] }],
      approvals: [approval('alice'), approval('bob', { stale: true })],
    });
    expect(rows.map(({ user, because, state }) => [user, because, state])).toEqual([
      ['bob', ['penguins.csv'], 'stale'],
      ['alice', [], 'given'],
    ]);
  });

  it.each([
    ['given', { signed: false }],
    ['signed', { signed: true }],
    ['stale', { stale: true, stale_because: [{ path: '/signature', approved: 'k', current: 'l', ...nobody }] }],
    ['unsigned', { stale: true, stale_because: [{ path: '/signature', approved: null, current: 'required', ...nobody }] }],
  ])('have the state %s for the approval %j', (state, fields) => {
    const [row] = approvalRows({ needed: [], approvals: [approval('bob', fields)] });
    expect(row?.state).toBe(state);
  });
});

describe('what a run waits for', () => {
  it.each([
    ['Missing algorithm', 'algorithm', 'An algorithm', undefined],
    ['Approval of bob for a.csv', 'approval', 'Approval of bob for a.csv', 'bob'],
    ['Approval of rita as reviewer', 'approval', undefined, 'rita'],
    ['Approval of bob, for 3 runs, all used', 'approval', undefined, 'bob'],
    ['Approval of "b b" (not ASCII: U+0430) as result consumer', 'approval', undefined, '"b b" (not ASCII: U+0430)'],
    [
      'Approval of bob, which allows only the CVM a',
      'limit',
      'The approval of bob is there, which allows only the CVM a',
      undefined,
    ],
    ['Approval of bob and eve', 'other', undefined, undefined],
  ])('%s is of the kind %s', (info, kind, sentence = info, user) => {
    const [item] = describeMissing({ keys: [], hashes: [], info: [info] });
    expect(item).toEqual({ kind, sentence, ...(user !== undefined && { user }) });
  });

  it('is named by users and files, each as one word', () => {
    expect(describeMissing({ keys: ['b b'], hashes: ['a.csv'], info: [] })).toEqual([
      { kind: 'key', sentence: 'The public key of "b b"', user: '"b b"' },
      { kind: 'content', sentence: 'The content of a.csv', file: 'a.csv' },
    ]);
  });
});
