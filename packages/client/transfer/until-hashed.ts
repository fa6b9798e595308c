import type { Schemas } from '../generated/api-types.ts';
import type { CallOptions, Client } from '../calls/create-client.ts';
import { pause, retry } from '../calls/retry.ts';
import { isTransient, ServiceProblem } from '../calls/service-problem.ts';
import { retryLimit } from './repeat-transfer.ts';
import { largestUploadInBytes } from './sizes.ts';

interface Options extends CallOptions {
  id: string;
  /** The size of the content in bytes. Default: as many as storage takes. */
  size?: number | undefined;
  /** Called whenever the service has not hashed the content yet. */
  onPending?: (() => void) | undefined;
}

const firstPauseInMilliseconds = 100;
const longestPauseInMilliseconds = 2_000;
/**
 * The minutes to wait until the service has hashed an upload: some always, and more for each GiB. For 5 GiB, these are the
 * fifteen minutes that the service may take at most.
 */
const retryLimitInMinutes = { always: 5, perGibibyte: 2 };

/**
 * Waits until the service has hashed an upload, and returns the asset: up to five minutes, and two more for each GiB. Goes on
 * through an outage of up to five minutes.
 * @throws ServiceProblem that says why the service could not take the content, or `unavailable` if it has not hashed the content
 *   by then; the signal's reason
 */
export async function untilHashed(
  client: Client,
  { size = largestUploadInBytes, onPending, ...place }: Options,
): Promise<Schemas['Asset']> {
  const minutes = retryLimitInMinutes.always + Math.floor(retryLimitInMinutes.perGibibyte * (size / 1_024 ** 3));
  const endsAt = performance.now() + minutes * 60_000;
  for (let next = firstPauseInMilliseconds; ; next = Math.min(next * 2, longestPauseInMilliseconds)) {
    const limit = retryLimit();
    const pauseAfter = (error: unknown) => (isTransient(error) ? limit().next : undefined);
    const found = await retry(() => client.getAsset(place), { signal: place.signal, pauseAfter });
    if (found.state === 'ready') return found;
    const { upload: { problem } = {} } = found;
    if (problem !== undefined) throw notTaken(found, problem);
    if (performance.now() >= endsAt) throw notHashed(found, minutes);
    onPending?.();
    await pause(next, place.signal);
  }
}

function notTaken({ id, file_name }: Schemas['Asset'], problem: string): ServiceProblem {
  const detail = `The service has not taken ${file_name}: ${problem}`;
  return new ServiceProblem({ status: 422, code: 'unexpected', detail, request: `hash of the asset ${id}` });
}

function notHashed({ id, file_name }: Schemas['Asset'], minutes: number): ServiceProblem {
  const detail = `${file_name} has arrived, but the service has not hashed it within ${minutes} minutes. It may do so later.`;
  return new ServiceProblem({ status: 503, code: 'unavailable', detail, request: `hash of the asset ${id}` });
}
