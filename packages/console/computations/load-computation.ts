import { type Client, type Schemas, wholeAnswer } from 'computation-management-client';

export interface LoadedComputation {
  computation: Schemas['Computation'];
  etag: string | undefined;
}

export async function loadComputation(client: Client, id: string, signal: AbortSignal): Promise<LoadedComputation> {
  const { data, etag } = wholeAnswer(await client.call('getComputation', { id, signal }));
  return { computation: data, etag };
}
