import type { Schemas } from '../api-types.ts';
import type { Client } from '../create-client.ts';
import { pause } from '../pause.ts';
import { mayPass, ServiceProblem } from '../service-problem.ts';
import { patience } from './patience.ts';

interface Place {
  domainID?: string | undefined;
  /** Of the asset. */
  id: string;
  signal?: AbortSignal | undefined;
}

const firstPauseInMilliseconds = 100;
const longestPauseInMilliseconds = 2_000;

/**
 * Waits until the service has hashed the content of an asset, and returns the asset. Outlasts an outage of the service for five minutes.
 * @throws ServiceProblem; the signal's reason
 */
export async function untilHashed(client: Client, place: Place): Promise<Schemas['Asset']> {
  const retries = patience();
  for (let next = firstPauseInMilliseconds; ; next = Math.min(next * 2, longestPauseInMilliseconds)) {
    const found = await client.getAsset(place).catch(passing);
    if (!(found instanceof ServiceProblem)) {
      if (found.state === 'ready') return found;
      retries.reset();
      await pause(next, place.signal);
      continue;
    }
    const afterFailure = retries.pauseAfterFailure();
    if (afterFailure === undefined) throw found;
    await pause(afterFailure, place.signal);
  }
}

/** @throws any error but a problem that may pass */
function passing(error: unknown): ServiceProblem {
  if (error instanceof ServiceProblem && mayPass(error)) return error;
  throw error;
}
