import { type Client, type Schemas, wholeAnswer } from 'computation-management-client';

export interface LoadedManifest {
  manifest: Schemas['Manifest'];
  digest: string | undefined;
}

/** Reads the manifest of a run started now, or the one that `run` was started with. */
export async function loadManifest(
  client: Client,
  { id, run, signal }: { id: string; run?: string | undefined; signal: AbortSignal },
): Promise<LoadedManifest> {
  const { data, digest } = wholeAnswer(await client.call('getManifest', { id, run, signal }));
  return { manifest: data, digest };
}
