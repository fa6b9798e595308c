import { numberOf } from 'computation-management-formats/identifiers';
import { describe, expect, it } from 'vitest';
import { readComputation } from '../../../shared/computations/read-computation.ts';
import { deleteComputation } from '../../../shared/deletion/delete-computation.ts';
import { indexedLists } from '../../../shared/lists/indexed-list.ts';
import { nameOfResource } from '../../../shared/lists/log.ts';
import { readLog } from '../../../shared/lists/unfolded-entries.ts';
import { allowed, aReadyComputation, aRun, endRunWith, startStores } from '../../support/builders-store.ts';
import { beforeTheNextTransaction } from '../../support/interleave.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { purgeAll } from '../../../shared/deletion/purge-all.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';
const nameOf = (id: string) => nameOfResource(numberOf(id) ?? 0);

describe('deleteComputation', () => {
  it('refuses with run_active when a run starts after it has read the computation, and deletes nothing', async () => {
    const { id } = await aReadyComputation(stores, domain);
    beforeTheNextTransaction(stores.mortal, () => aRun(stores, domain, id));
    const deletion = deleteComputation(stores.mortal, { domain, id, permit: allowed });
    await expect(deletion).rejects.toMatchObject({ code: 'conflict', extras: { reason: 'run_active' } });
    expect(await readComputation(stores.table, domain, id)).toMatchObject({ id, status: 'running' });
  });

  it('logs the removal of a run as one that comes after the deletion', async () => {
    const { id } = await aReadyComputation(stores, domain);
    const runId = await aRun(stores, domain, id, 'cvm-2');
    await endRunWith(stores, domain, runId);
    const { version } = await readComputation(stores.table, domain, id);
    await deleteComputation(stores.table, { domain, id, permit: allowed });
    await purgeAll(stores.table, stores.content);
    const entries = await readLog(stores.table, indexedLists.runs(domain).index);
    const removal = entries.find(({ name }) => name === `run-${nameOf(runId)}`);
    expect(removal?.steps).toMatchObject([{ after: { name: nameOf(id), version: version + 1 } }]);
  });
});
