import { describe, expect, it } from 'vitest';
import { partiesOf } from '../../../../packages/console/loading/overview.ts';

const nothing = { keys: [], hashes: [], info: [] };
const noApprovals = { needed: [], approvals: [] };
const computation = { owner: 'alice', consumers: ['carol'] };
const inputs = [
  { file_name: 'sizes.py', asset_type: 'algorithm' as const, created_by: 'dana', state: 'ready' as const },
  { file_name: 'penguins.csv', asset_type: 'dataset' as const, created_by: 'bob', state: 'pending' as const },
];
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

const owesOf = (given: Partial<Parameters<typeof partiesOf>[0]>) => {
  const { parties, others } = partiesOf({ computation, inputs, missing: nothing, approvals: noApprovals, ...given });
  return { owes: Object.fromEntries(parties.map(({ user, owes }) => [user, owes])), others };
};

describe('the parties of a computation', () => {
  it('are the owner, the creators of its inputs and the result consumers', () => {
    const { parties } = partiesOf({ computation, inputs, missing: nothing, approvals: noApprovals });
    expect(parties).toEqual([
      { user: 'alice', parts: ['owner'], owes: [] },
      { user: 'dana', parts: ['algorithm sizes.py'], owes: [] },
      { user: 'bob', parts: ['dataset penguins.csv'], owes: [] },
      { user: 'carol', parts: ['result consumer'], owes: [] },
    ]);
  });

  it('owe keys and content, each by name', () => {
    const missing = { keys: ['alice', 'erin'], hashes: ['penguins.csv'], info: ['Missing algorithm'] };
    expect(owesOf({ missing })).toEqual({
      owes: { alice: ['public key'], dana: [], bob: ['content of penguins.csv'], carol: [], erin: ['public key'] },
      others: ['Missing algorithm'],
    });
  });

  it('content whose creator is unknown is owed by nobody in particular', () => {
    const unknown = [{ file_name: 'penguins.csv', asset_type: 'dataset' as const }];
    expect(owesOf({ inputs: unknown, missing: { ...nothing, hashes: ['penguins.csv'] } })).toEqual({
      owes: { alice: [], carol: [] },
      others: ['Content of penguins.csv'],
    });
  });

  it('owe approvals that are not given or stale, once each and not as a sentence too', () => {
    const approvals = {
      needed: [
        { user: 'dana', because: ['sizes.py'] },
        { user: 'bob', because: ['penguins.csv'] },
        { user: 'carol', because: ['result consumer'] },
      ],
      approvals: [approval('dana'), approval('bob', { stale: true })],
    };
    const missing = { ...nothing, info: ['Approval of bob for penguins.csv', 'Approval of carol as result consumer'] };
    expect(owesOf({ approvals, missing })).toEqual({
      owes: { alice: [], dana: [], bob: ['approval for penguins.csv'], carol: ['approval'] },
      others: [],
    });
  });

  it('owe a signed approval where the computation demands signatures, because the service calls others stale', () => {
    const approvals = {
      needed: [
        { user: 'dana', because: ['sizes.py'] },
        { user: 'bob', because: ['penguins.csv'] },
      ],
      approvals: [approval('dana', { stale: true }), approval('bob', { signed: true })],
    };
    const { owes } = owesOf({ approvals });
    expect(owes).toMatchObject({ dana: ['approval for sizes.py'], bob: [] });
  });
});
