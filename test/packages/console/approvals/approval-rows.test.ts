import { describe, expect, it } from 'vitest';
import { approvalRows, mayApprove } from '../../../../packages/console/approvals/approval.ts';

const approval = (user: string, fields: { stale?: boolean; signed?: boolean } = {}) => ({
  user,
  digest: '',
  cvm_ids: null,
  expires_at: null,
  signed: false,
  stale: false,
  approved_at: '',
  ...fields,
});

describe('approval rows', () => {
  it('show what is needed first, then what was given without need', () => {
    const rows = approvalRows('all', {
      needed: [{ user: 'bob', because: ['penguins.csv'] }],
      approvals: [approval('alice'), approval('bob', { stale: true })],
    });
    expect(rows.map(({ user, because, state }) => [user, because, state])).toEqual([
      ['bob', ['penguins.csv'], 'stale'],
      ['alice', [], 'given'],
    ]);
  });

  it.each([
    ['all', false, 'given'],
    ['all', true, 'signed'],
    ['all_signed', false, 'unsigned'],
    ['all_signed', true, 'signed'],
  ] as const)('under the policy %s, an approval with signed=%s is %s', (policy, signed, state) => {
    const [row] = approvalRows(policy, { needed: [], approvals: [approval('bob', { signed, stale: state === 'unsigned' })] });
    expect(row?.state).toBe(state);
  });
});

describe('may approve', () => {
  const parts = {
    computation: { owner: 'alice', consumers: ['carol'] },
    inputs: [{ created_by: 'bob' }, {}],
    approvals: { needed: [{ user: 'erin', because: ['result consumer'] }], approvals: [] },
  };

  it.each(['alice', 'bob', 'carol', 'erin'])('%s takes part and may', (user) => {
    expect(mayApprove(user, parts)).toBe(true);
  });

  it('others may not', () => {
    expect(mayApprove('vera', parts)).toBe(false);
  });
});
