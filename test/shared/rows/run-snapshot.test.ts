import { describe, expect, it } from 'vitest';
import { neededApprovalsOf, type RunSnapshot } from '../../../shared/rows/run-snapshot.ts';

describe('the approvals that the start of a run needed', () => {
  const usersOf = (approval: RunSnapshot['approval']) => {
    const approvals = ['alice', 'bob', 'carol', 'dave', 'rita'].map((user) => ({ user }));
    const assets = [{ creator: 'bob', use: 'open' }];
    const result_review = { reviewers: ['rita'], needed: 1, consumers: ['alice', 'carol'] };
    const snapshot = { approval, approvals, assets, owner: 'alice', result_consumers: ['alice', 'carol'], result_review };
    return neededApprovalsOf(snapshot as unknown as RunSnapshot).map(({ user }) => user);
  };

  it('are those of creators, consumers and reviewers if all have to approve', () => {
    expect(usersOf('all')).toEqual(['alice', 'bob', 'carol', 'rita']);
    expect(usersOf('none')).toEqual([]);
  });
});
