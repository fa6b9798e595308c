import { describe, expect, it } from 'vitest';
import {
  approveCommand,
  expiryAfter,
  mayApprove,
  newUuid,
  runsIn,
  runsText,
} from '../../../../packages/console/approvals/approval.ts';

describe('may approve', () => {
  const part = (user: string, ...parts: ('owner' | 'provider' | 'consumer' | 'reviewer')[]) => ({
    user,
    parts,
    files: [],
    owes: [],
  });
  const parties = [
    part('alice', 'owner'),
    { ...part('bob', 'provider'), files: [{ asset_type: 'dataset' as const, file_name: 'a.csv' }] },
    part('carol', 'consumer'),
    { ...part('erin'), owes: [{ kind: 'approval' as const, files: [] }] },
    part('rita', 'reviewer'),
    part('paul', 'provider'),
  ];

  it.each(['alice', 'bob', 'carol', 'erin', 'rita'])('%s takes part and may', (user) => {
    expect(mayApprove(user, parties)).toBe(true);
  });

  it.each(['paul', 'vera'])('%s, who brings no file, may not', (user) => {
    expect(mayApprove(user, parties)).toBe(false);
  });
});

it.each([
  ['', undefined],
  ['7', '2026-01-08T00:00:00.000Z'],
])('an approval for %j days ends at %s', (days, end) => {
  expect(expiryAfter(days, Date.parse('2026-01-01T00:00:00Z'))).toBe(end);
});

it.each([
  ['', null],
  [' 3 ', 3],
  ['1000', 1_000],
  ...['0', '-1', '1.5', '1001', 'three'].map((typed): [string, undefined] => [typed, undefined]),
] as [string, number | null | undefined][])('reads %j as the number of runs %s', (typed, runs) => {
  expect(runsIn(typed)).toBe(runs);
});

it('says how many runs of an approval are used', () => {
  expect([runsText({ max_runs: 3, used_runs: 2 }), runsText({ max_runs: 1, used_runs: null })]).toEqual([
    '2 of 3 runs used',
    '0 of 1 run used',
  ]);
});

it('makes another UUID for each approval', () => {
  const [one, other] = [newUuid(), newUuid()];
  expect(one).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/);
  expect(one).not.toBe(other);
});

describe('the command that signs', () => {
  it('approves what is shown, in its domain, with the limits of the approval', () => {
    const digests = { manifest_digest: 'ab', configuration_digest: 'cd' };
    const shown = { domain: 'd1', computation: 'c1', approver: 'alice', ...digests };
    const command = 'cms --domain d1 approve c1 --digest ab --configuration cd --sign KEYFILE';
    expect(approveCommand(shown)).toBe(command);
    expect(approveCommand({ ...shown, cvm_ids: ['cvm-1', 'cvm-2'], expires_at: '2026-01-08T00:00:00.000Z', max_runs: 3 })).toBe(
      `${command} --cvm cvm-1 --cvm cvm-2 --expires 2026-01-08T00:00:00.000Z --runs 3`,
    );
  });
});
