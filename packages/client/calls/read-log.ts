import { growingPause, retry } from './retry.ts';
import { causeOf, isTransient, problemOf, ServiceProblem } from './service-problem.ts';

interface LogOptions {
  /** The address of the service. */
  baseUrl: string;
  signal?: AbortSignal | undefined;
}

const mostAttempts = 5;
const longestInMilliseconds = 60_000;

/**
 * Reads a part of the log of a service, without a token: `checkpoint`, or a tile by its path. Repeats what fails for a moment.
 * @returns undefined if the log has no such part
 * @throws ServiceProblem; the signal's reason
 */
export async function readLog(path: string, { baseUrl, signal }: LogOptions): Promise<Uint8Array | undefined> {
  const request = `GET /log/${path}`;
  const attempt = async () => {
    const signals = [AbortSignal.timeout(longestInMilliseconds), ...(signal ? [signal] : [])];
    const answer = fetch(`${baseUrl}/log/${path}`, { signal: AbortSignal.any(signals), cache: 'no-store', redirect: 'error' });
    const response = await answer.catch((error: unknown) => {
      throw new ServiceProblem({ status: 0, code: 'unreachable', detail: `No answer: ${causeOf(error)}`, request }, error);
    });
    if (response.status === 404) return undefined;
    if (!response.ok) throw await problemOf(response, request);
    return new Uint8Array(await response.arrayBuffer());
  };
  const pauseAfter = (error: unknown, failures: number) =>
    isTransient(error) && failures < mostAttempts ? growingPause(failures, 250, 5_000) : undefined;
  return await retry(attempt, { signal, pauseAfter });
}
