import { type Client, ServiceProblem } from 'computation-management-client';

/** The most of each kind that one call deletes. */
const limit = 100;

/** The names of what the canary makes. Others may keep something in its domain. */
export const canaryNames = { computation: 'Canary', algorithm: 'canary.py', dataset: 'canary.csv' } as const;

/**
 * Deletes what calls of the canary have left: computations and assets with its names that its user owns. Stops runs that are in the
 * way, and leaves what they hold to the next call.
 * @param owner the user's `sub`
 * @param before the time before which they were created. RFC 3339, UTC, milliseconds
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

/** Stops its run instead if one is active. @throws ServiceProblem */
export async function deleteComputation(client: Client, id: string, signal: AbortSignal): Promise<void> {
  const isDeleted = await deleted(() => client.deleteComputation({ id, signal }));
  if (!isDeleted) await client.stopRun({ id, signal });
}

/** Keeps it if an active run uses it. @throws ServiceProblem */
export async function deleteAsset(client: Client, id: string, signal: AbortSignal): Promise<void> {
  await deleted(() => client.deleteAsset({ id, signal }));
}

/** Returns false if an active run is in the way. Something that is gone counts as deleted. */
async function deleted(remove: () => Promise<unknown>): Promise<boolean> {
  try {
    await remove();
    return true;
  } catch (error) {
    if (!(error instanceof ServiceProblem) || ![404, 409].includes(error.status)) throw error;
    return error.status === 404;
  }
}
