import type { Schemas } from 'computation-management-client';
import { changeCards, consentSentence, describeCoverage, partsText } from 'computation-management-words';
import { expect, it } from 'vitest';
import { strictPolicy } from '../../support/strict-policy.ts';
import { publicKey } from '../../support/ready-computation.ts';
import { parsePublicKey } from 'computation-management-formats/public-key';

const like = '\u0430lice';
const [ofAlice, ofOther] = [publicKey(), publicKey()];
const manifest = {
  id: 'c',
  name: 'n',
  description: '',
  algorithm: { hash: [1], user_key: ofAlice },
  datasets: [{ filename: 'penguins.csv', hash: [2], user_key: ofOther }],
  result_consumers: [{ user_key: ofAlice }, { user_key: ofOther }],
};
const rows = [
  { asset_type: 'algorithm', file_name: 'penguin-sizes.py', checksum: '01', created_by: 'alice' },
  { asset_type: 'dataset', file_name: 'penguins.csv', checksum: '02', created_by: 'bob' },
];
const owners = {
  assets: rows as Schemas['AssetRow'][],
  usersWith: (fingerprint: string) => [parsePublicKey(ofAlice).fingerprint === fingerprint ? 'alice' : like],
};
const agent_config = { cert_file: '', server_ca_file: '', client_ca_file: '', attested_tls: true };
const open = { agent_config, approval: 'all', attestation_policy: null, log_access: 'none', result_review: null } as const;
const computation = { parties: [] };

it('says in one sentence whose code reads whose data, where, for whom and until when', () => {
  const came = { path: '/manifest/result_consumers/1/user_key', approved: null, current: 'k', user: like, by: 'alice', at: null };
  const changes = changeCards({ approved_at: '', cvm_ids: null, stale_because: [came] }, { computation, events: [] });
  const parts = consentSentence(describeCoverage(manifest, open, owners), { computation, you: 'bob', changes });
  expect(partsText(parts)).toBe(
    String.raw`alice's penguin-sizes.py reads your penguins.csv on any machine; "\u{0430}lice" (looks like alice, new) and alice get the result; until something changes.`,
  );
  expect(parts.filter(({ warning }) => warning)).toMatchObject([{ names: 'person', warning: 'looks like alice, new' }]);
});

it('names the machines, the logs and the end to which an approval is limited', () => {
  const policy = { ...strictPolicy, measurements: ['a'.repeat(96), 'b'.repeat(96)], allow_debug: true };
  const covered = describeCoverage(manifest, { ...open, attestation_policy: policy, log_access: 'parties' }, owners);
  const limits = { expires_at: '2999-12-31T12:00:00.000Z', max_runs: 3, cvm_ids: ['cvm-1'] };
  const sentence = partsText(consentSentence(covered, { computation, you: 'alice', limits }));
  expect(sentence).toMatch(/^Your penguin-sizes\.py reads bob's penguins\.csv on cvm-1, if \w+, with one of 2 measurements/);
  expect(sentence).toContain(', which their host may debug; ');
  expect(sentence).toMatch(
    / all parties may read its logs; until something changes or 2999-12-31T12:00:00\.000Z or 3 runs have started\.$/,
  );
});
