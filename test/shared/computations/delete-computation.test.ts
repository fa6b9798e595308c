import { describe, expect, it } from 'vitest';
import { deleteComputation } from '../../../shared/computations/delete-computation.ts';
import { allowed, aReadyComputation, aRun, startStores } from '../../support/builders-store.ts';
import { beforeTheNextTransaction } from '../../support/interleave.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { readComputation } from '../../../shared/rows/computation.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';

describe('deleteComputation', () => {
  it('refuses with run_active when a run starts after it has read the computation, and deletes nothing', async () => {
    const { id } = await aReadyComputation(stores, domain);
    beforeTheNextTransaction(stores.mortal, () => aRun(stores, domain, id));
    const deletion = deleteComputation(stores.mortal, { domain, id, permit: allowed });
    await expect(deletion).rejects.toMatchObject({ code: 'conflict', extras: { reason: 'run_active' } });
    expect(await readComputation(stores.table, domain, id)).toMatchObject({ id, status: 'running' });
  });
});
