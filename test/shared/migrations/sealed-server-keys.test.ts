import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KMSClient } from '@aws-sdk/client-kms';
import { localCredentials } from '../../../local/local-credentials.ts';
import { readDefinition } from '../../../shared/computations/read-computation.ts';
import { openKey } from '../../../shared/computations/sealed-key.ts';
import { runMigrations } from '../../../shared/migrations/run-migrations.ts';
import { parseSnapshot, snapshotKeys } from '../../../shared/runs/snapshot.ts';
import { computationKeys, migrationKeys, runKeys, type Key } from '../../../shared/table/keys.ts';
import { getItem, getItems, type Table } from '../../../shared/table/table.ts';
import { deleteItems, putItem } from '../../../shared/table/writes.ts';
import { defaultAgentConfig } from '../../../shared/computations/agent-config.ts';
import { dieAtEveryCall } from '../../support/builders-purge.ts';
import { aComputation, aReadyComputation, aRun, byAlice, startStores } from '../../support/builders-store.ts';
import { scan } from '../../support/lifecycle-inconsistencies.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';
const privateKey = 'PRIVATE KEY';

beforeEach(() => {
  const { endpoint, sealingKeyArn } = stores.endpoints.kms;
  vi.stubEnv('SEALING_KEY_ARN', sealingKeyArn);
  vi.stubEnv('AWS_ENDPOINT_URL_KMS', endpoint);
  vi.stubEnv('AWS_REGION', 'local');
  vi.stubEnv('AWS_ACCESS_KEY_ID', localCredentials.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', localCredentials.secretAccessKey);
});
afterEach(() => vi.unstubAllEnvs());

const kms = () => {
  const { endpoint } = stores.endpoints.kms;
  return { client: new KMSClient({ endpoint, region: 'local', credentials: localCredentials }) };
};
const migrate = (table: Table = stores.table) => runMigrations(table, { now: byAlice.now, graceInSeconds: 0 });
const itemsWithKey = async () => (await scan(stores.table)).filter((item) => JSON.stringify(item).includes(privateKey));

/** Writes a configuration as earlier versions did. */
async function giveKey(id: string): Promise<void> {
  const agent_config = { ...defaultAgentConfig, cert_file: 'cert', server_key: privateKey };
  await putItem(stores.table, { ...computationKeys.config(id), agent_config });
}

async function anEarlierRun() {
  const { id } = await aReadyComputation(stores, domain);
  await giveKey(id);
  const run = { computation_id: id, run_id: await aRun(stores, domain, id, `cvm-${id.slice(-6)}`) };
  await putItem(stores.table, { ...runKeys.serverKey(id, run.run_id), server_key: privateKey });
  return run;
}

const opened = async (id: string) => {
  const { agent_config } = await readDefinition(stores.table, id);
  return { ...agent_config, server_key: await openKey(kms(), id, agent_config.server_key) };
};

describe('the migration sealed-server-keys', () => {
  it('leaves no private key in plain text, and each sealed key opens to the original', async () => {
    const ids = [await aComputation(stores.table, domain), await aComputation(stores.table, domain)];
    for (const id of ids) await giveKey(id);
    const run = await anEarlierRun();
    expect(await itemsWithKey()).toHaveLength(4);
    expect(await migrate()).toBe(0);
    expect(await itemsWithKey()).toEqual([]);
    for (const id of [...ids, run.computation_id]) {
      expect(await opened(id)).toEqual({ ...defaultAgentConfig, cert_file: 'cert', server_key: privateKey });
    }
    const { agent_config } = parseSnapshot(await getItems(stores.table, snapshotKeys(run)));
    expect(await openKey(kms(), run.computation_id, agent_config.server_key)).toBe(privateKey);
    expect(await getItem(stores.table, migrationKeys.state('sealed-server-keys'))).toMatchObject({ changed: 4 });
  });

  it('leaves no private key in plain text, whichever call it dies at', async () => {
    const calls = await dieAtEveryCall(
      stores,
      async () => {
        await deleteItems(stores.table, (await scan(stores.table)) as unknown as Key[]);
        await giveKey(await aComputation(stores.table, domain));
      },
      () => migrate(stores.mortal),
      async (_, death) => {
        expect([death, await migrate()]).toEqual([death, 0]);
        expect([death, ...(await itemsWithKey())]).toEqual([death]);
      },
    );
    expect(calls).toBeGreaterThan(10);
  });
});
