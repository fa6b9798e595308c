import { describe, expect, it } from 'vitest';
import { approveCommand, expiryAfter, mayApprove } from '../../../../packages/console/approvals/approval.ts';

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

it.each([
  ['', undefined],
  ['7', '2026-01-08T00:00:00.000Z'],
])('an approval for %j days ends at %s', (days, end) => {
  expect(expiryAfter(days, Date.parse('2026-01-01T00:00:00Z'))).toBe(end);
});

describe('the command that signs', () => {
  it('approves what is shown, in its domain, with the limits of the approval', () => {
    const digests = { manifest_digest: 'ab', configuration_digest: 'cd' };
    const shown = { domain: 'd1', computation: 'c1', approver: 'alice', ...digests };
    const command = 'cms --domain d1 approve c1 --digest ab --configuration cd --sign KEYFILE';
    expect(approveCommand(shown)).toBe(command);
    expect(approveCommand({ ...shown, cvm_ids: ['cvm-1', 'cvm-2'], expires_at: '2026-01-08T00:00:00.000Z' })).toBe(
      `${command} --cvm cvm-1 --cvm cvm-2 --expires 2026-01-08T00:00:00.000Z`,
    );
  });
});
