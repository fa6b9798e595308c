import { ServiceProblem, type Schemas } from '../../client/index.ts';
import { pause } from '../../client/pause.ts';
import { storageAnswer } from '../../client/storage-answer.ts';

type Target = Schemas['AssetUpload'];

interface Options {
  /** Sends the content once, and returns the status of storage's answer. */
  put: (target: Target) => Promise<number>;
  /** Returns a new link, or undefined if the content has arrived. */
  renew: () => Promise<Target | undefined>;
  /** Called before each pause after which the content is sent again. */
  onInterruption: () => void;
  signal: AbortSignal;
  /** The pause after the first attempt. It doubles with each further one. Default 500. */
  firstPauseInMilliseconds?: number;
}

/** With the pauses between them, they outlast an outage of a minute. */
const mostAttempts = 8;

/**
 * Sends the content of an asset to storage. Repeats it if the connection breaks, if the link has expired, or if storage asks for it.
 * @param first the link of the first attempt. Default: a new one
 * @throws ServiceProblem if storage refuses, or the last attempt fails; the signal's reason
 */
export async function sendContent(first: Target | undefined, options: Options): Promise<void> {
  const { put, renew, onInterruption, signal, firstPauseInMilliseconds = 500 } = options;
  let target = first ?? (await renew());
  for (let attempt = 1; target; attempt++) {
    const status = await put(target).catch((error: unknown) => {
      if (attempt < mostAttempts && error instanceof ServiceProblem && error.code === 'unreachable') return 0;
      throw error;
    });
    const answer = status === 0 ? 'again' : storageAnswer(status);
    if (answer === 'arrived') return;
    if (answer === 'refused' || attempt >= mostAttempts) throw refusal(status);
    onInterruption();
    await pause(firstPauseInMilliseconds * 2 ** (attempt - 1), signal);
    if (answer === 'expired') target = await renew();
  }
}

function refusal(status: number): ServiceProblem {
  const detail = `Storage refused the file with status ${status}.`;
  return new ServiceProblem({ status, code: 'unexpected', detail, request: 'PUT storage' });
}
