import { type Client, ServiceProblem } from 'computation-management-client';

/** The largest number of computations, and of assets, that one call of the canary looks at to delete what earlier calls left. */
const limit = 100;

/**
 * The names of the computation, the algorithm and the dataset that the canary creates. It deletes only things with these names,
 * because others may keep something in its domain.
 */
export const canaryNames = { computation: 'Canary', algorithm: 'canary.py', dataset: 'canary.csv' } as const;

/**
 * Deletes computations and assets that have the canary's names and that its user owns. Stops runs that are active, and leaves
 * their computations and assets to the next call.
 * @param owner the user's `sub`
 * @param before the time before which they were created: RFC 3339, UTC, milliseconds
 * @throws ServiceProblem
 */
export async function clearDomain(
  client: Client,
  { owner, before }: { owner: string; before: string },
  signal: AbortSignal,
): Promise<void> {
  const { computations } = await client.listComputations({ limit, owner, signal });
  for (const { id, name, created_at } of computations) {
    if (name === canaryNames.computation && created_at < before) await deleteComputation(client, id, signal);
  }
  const { assets } = await client.listAssets({ limit, signal });
  for (const { id, file_name, created_by, created_at } of assets) {
    const isOfCanary = created_by === owner && (file_name === canaryNames.algorithm || file_name === canaryNames.dataset);
    if (isOfCanary && created_at < before) await deleteAsset(client, id, signal);
  }
}

/** Deletes a computation of the canary, or stops its run instead if one is active. @throws ServiceProblem */
export async function deleteComputation(client: Client, id: string, signal: AbortSignal): Promise<void> {
  const isDeleted = await deleted(() => client.deleteComputation({ id, signal }));
  if (!isDeleted) await client.stopRun({ id, signal });
}

/** Deletes an asset of the canary. Keeps it if an active run uses it. @throws ServiceProblem */
export async function deleteAsset(client: Client, id: string, signal: AbortSignal): Promise<void> {
  await deleted(() => client.deleteAsset({ id, signal }));
}

/**
 * Calls a function that deletes a computation or an asset. A computation or asset that is gone already counts as deleted.
 * @returns false if an active run is in the way
 */
async function deleted(remove: () => Promise<unknown>): Promise<boolean> {
  try {
    await remove();
    return true;
  } catch (error) {
    if (!(error instanceof ServiceProblem) || ![404, 409].includes(error.status)) throw error;
    return error.status === 404;
  }
}
