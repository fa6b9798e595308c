import { type Client, type Schemas, ServiceProblem } from '../../client/index.ts';
import { pause } from '../../client/pause.ts';
import { passingProblem } from './passing-problem.ts';
import { patience } from './patience.ts';

interface Options {
  signal: AbortSignal;
  /** Between two questions. Default 1,000. */
  pauseInMilliseconds?: number;
  now?: () => number;
}

/**
 * Waits until the service has hashed the content of an asset, and returns the asset. Outlasts an outage of the service for five minutes.
 * @throws ServiceProblem; the signal's reason
 */
export async function untilHashed(client: Client, id: string, options: Options): Promise<Schemas['Asset']> {
  const { signal, pauseInMilliseconds = 1_000, now } = options;
  const retries = patience({ firstPauseInMilliseconds: pauseInMilliseconds, now });
  for (;;) {
    const found = await client.getAsset({ id, signal }).catch(passingProblem);
    let next: number | undefined = pauseInMilliseconds;
    if (found instanceof ServiceProblem) {
      next = retries.pauseAfterFailure();
      if (next === undefined) throw found;
    } else {
      if (found.state === 'ready') return found;
      retries.reset();
    }
    await pause(next, signal);
  }
}
