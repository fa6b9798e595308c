import { describe, expect, it } from 'vitest';
import { assetKey, readAsset } from '../../../shared/rows/asset.ts';
import { changeInputs, readToChange } from '../../../shared/rows/change-computation.ts';
import { readHead } from '../../../shared/journal/journal.ts';
import { readManifest } from '../../../shared/runs/read-manifest.ts';
import { claimKey, readClaim } from '../../../shared/rows/claim.ts';
import { journalKeys, keyToWrite, runKeys, schemaKeys, type AnyKey, type RowKey } from '../../../shared/table/keys.ts';
import { putItem } from '../../../shared/table/writes.ts';
import { transact, Transaction } from '../../../shared/table/transaction.ts';
import { aReadyComputation, aRunOnNewCvm, startStores } from '../../support/builders-store.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { assertSchemaOfTable, assertSchema } from '../../../shared/table/stored.ts';
import { listComputations } from '../../../shared/computations/describe-computation.ts';
import { getItem } from '../../../shared/table/table.ts';
import { readRun, runKey } from '../../../shared/rows/run.ts';
import { computationKey, readComputation } from '../../../shared/rows/computation.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';

const aStartedRun = () => aRunOnNewCvm(stores, domain);
type Started = Awaited<ReturnType<typeof aStartedRun>>;

/** The kinds of items with a schema version: where each is stored, and which function reads it. */
const kinds: Record<string, { key: (run: Started) => AnyKey; read: (run: Started) => Promise<unknown> }> = {
  computation: {
    key: (run) => computationKey(domain, run.computation_id),
    read: (run) => readComputation(stores.table, domain, run.computation_id),
  },
  run: {
    key: (run) => runKey(domain, run.run_id),
    read: (run) => readRun(stores.table, domain, run.run_id),
  },
  asset: {
    key: (run) => assetKey(domain, run.algorithm),
    read: (run) => readAsset(stores.table, domain, run.algorithm),
  },
  claim: {
    key: (run) => claimKey(run),
    read: (run) => readClaim(stores.table, run),
  },
  'snapshot of a run': {
    key: (run) => runKeys.snapshot(run.computation_id, run.run_id),
    read: (run) => readManifest(stores.table, domain, run.computation_id, run.run_id),
  },
  'journal head': {
    key: (run) => journalKeys.head(run.computation_id),
    read: (run) => readHead(stores.table, run.computation_id),
  },
};
const byName = Object.entries(kinds);

async function setSchema(key: AnyKey, schema: number | undefined): Promise<void> {
  const update = {
    Key: keyToWrite(key as RowKey),
    UpdateExpression: schema === undefined ? 'REMOVE #schema' : 'SET #schema = :schema',
    ExpressionAttributeNames: { '#schema': 'schema' },
    ...(schema === undefined ? {} : { ExpressionAttributeValues: { ':schema': schema } }),
  };
  await transact(stores.table, [{ update }]);
}

describe('the schema version of a stored item', () => {
  it.each(byName)('is written with every %s, and not given to readers', async (_name, { key, read }) => {
    const run = await aStartedRun();
    expect(await getItem(stores.table, key(run))).toMatchObject({ schema: 1 });
    expect(await read(run)).not.toHaveProperty('schema');
  });

  it.each(byName)('makes readers refuse a %s of another version, or without one', async (name, { key, read }) => {
    const run = await aStartedRun();
    for (const version of [2, undefined]) {
      await setSchema(key(run), version);
      await expect(read(run)).rejects.toThrow(
        `A stored ${name} has schema version ${version}. This service knows only version 1.`,
      );
    }
  });

  it('makes lists refuse too, since a row left out would be a wrong page', async () => {
    const run = await aStartedRun();
    await setSchema(computationKey(domain, run.computation_id), 2);
    const page = listComputations(stores.table, domain, { limit: 10, offset: 0 });
    await expect(page).rejects.toThrow('A stored computation has schema version 2.');
    await setSchema(computationKey(domain, run.computation_id), 1);
  });

  it('stays as it is when attributes of a row are updated', async () => {
    const { id } = await aReadyComputation(stores, domain);
    const computation = await readToChange(stores.table, domain, id);
    const transaction = new Transaction();
    changeInputs(transaction, computation, { addedDatasets: 0 });
    await transaction.commit(stores.table);
    expect(await getItem(stores.table, computationKey(domain, id))).toMatchObject({ schema: 1 });
  });

  it.each(['registered CVM', 'kept answer', 'evidence'] as const)('of a %s must be 1', (kind) => {
    expect(() => assertSchema({ schema: 1 }, kind)).not.toThrow();
    for (const schema of [0, 2, 1.5, '1', null, undefined]) {
      expect(() => assertSchema({ schema }, kind)).toThrow(`A stored ${kind} has schema version ${String(schema)}.`);
    }
  });
});

describe('the schema version of the table', () => {
  it('is recorded at the first start, and another one is refused', async () => {
    for (const _ of ['first', 'second']) await assertSchemaOfTable(stores.table);
    expect(await getItem(stores.table, schemaKeys.version)).toMatchObject({ schema: 1 });
    await putItem(stores.table, { ...schemaKeys.version, schema: 2 });
    const refusal = 'The data has schema version 2. This service knows only version 1.';
    await expect(assertSchemaOfTable(stores.table)).rejects.toThrow(refusal);
    await putItem(stores.table, { ...schemaKeys.version, schema: 1 });
  });
});
