import type { StoredAsset } from '../../shared/assets/asset.ts';
import { defaultAgentConfig } from '../../shared/computations/agent-config.ts';
import type { ParticipantKey } from '../../shared/keys/participant-key.ts';
import type { Inputs } from '../../shared/manifest/manifest.ts';
import { clockOfTests } from './append-to-journal.ts';
import { aComputationRow } from './builders-store.ts';

export const id = '00000000-0001-8000-8000-000000000000';
export const key = (user: string) => btoa(`key of ${user}`);

/** A dataset of bob. */
export function anAssetRow(fields: Partial<StoredAsset> = {}): StoredAsset {
  return {
    id,
    file_name: 'iris.csv',
    description: '',
    asset_type: 'dataset',
    mime_type: '',
    state: 'ready',
    size: 1,
    checksum: '07'.repeat(32),
    content_access: 'creator',
    use: 'open',
    created_by: 'bob',
    created_at: clockOfTests,
    updated_at: clockOfTests,
    user_key: '',
    content_key: 'content',
    content_checksum: '07'.repeat(32),
    upload_key: null,
    version: 1,
    ...fields,
  };
}

export function aKeyOf(user_id: string, fields: Partial<ParticipantKey> = {}): ParticipantKey {
  return { user_id, user_key: key(user_id), fingerprint: '', is_consumer: false, uploaded_at: clockOfTests, ...fields };
}

/** A computation of alice with an algorithm and a dataset of bob, ready to run. */
export function inputs(fields: Partial<Inputs> = {}): Inputs {
  return {
    computation: aComputationRow(id, { dataset_count: 1 }),
    agent_config: defaultAgentConfig,
    algorithm: anAssetRow({ file_name: 'algorithm.py', asset_type: 'algorithm' }),
    datasets: [anAssetRow()],
    keys: [aKeyOf('alice'), aKeyOf('bob')],
    consumers: [],
    approvals: [],
    ...fields,
  };
}
