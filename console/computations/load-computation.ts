import type { Client, Schemas } from '../../client/index.ts';
import { wholeAnswer } from '../../client/whole-answer.ts';

export interface LoadedComputation {
  computation: Schemas['Computation'];
  etag: string | undefined;
}

export async function loadComputation(client: Client, id: string, signal: AbortSignal): Promise<LoadedComputation> {
  const { data, etag } = wholeAnswer(await client.call('getComputation', { id, signal }));
  return { computation: data as Schemas['Computation'], etag }; // only with `peek` would it lack fields
}
