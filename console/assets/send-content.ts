import { ServiceProblem, type Schemas } from '../../client/index.ts';
import { pause } from '../../client/pause.ts';
import { storageAnswer } from '../../client/storage-answer.ts';
import { passingProblem } from './passing-problem.ts';
import { patience } from './patience.ts';

type Target = Schemas['AssetUpload'];

/** The answer of storage. */
export interface Answer {
  status: number;
  /** XML, which names an error in `<Code>`. Empty after a success. */
  body: string;
}

interface Options {
  /** Sends the content once. */
  put: (target: Target) => Promise<Answer>;
  /** Returns a new link, or undefined if the content has arrived. */
  renew: () => Promise<Target | undefined>;
  /** Returns how many bytes the attempt that came furthest has sent. */
  furthest: () => number;
  /** Called before each pause after which the content is sent again. */
  onInterruption: () => void;
  signal: AbortSignal;
  /** The pause after the first attempt. It doubles with each further one that comes no further. Default 500. */
  firstPauseInMilliseconds?: number;
  now?: () => number;
}

/**
 * Sends the content of an asset to storage. Repeats it if the connection breaks, if the link has expired, if storage asks for it, or if
 * the service gives no new link for now. Gives up, as cms does, after five minutes and five attempts in which none came further than
 * those before.
 * @param first the link of the first attempt. Default: a new one
 * @throws ServiceProblem if storage or the service refuses, or that of the last attempt; the signal's reason
 */
export async function sendContent(first: Target | undefined, options: Options): Promise<void> {
  const { put, renew, furthest, onInterruption, signal, firstPauseInMilliseconds, now } = options;
  const retries = patience({ firstPauseInMilliseconds, now });
  let target = first;
  for (;;) {
    const before = furthest();
    const isNew = target === undefined;
    const outcome = await attempt().catch(passingProblem);
    if (outcome === undefined) return; // the content has arrived, although the answer was lost
    const answer = outcome instanceof ServiceProblem ? 'again' : storageAnswer(outcome.status, outcome.body);
    if (answer === 'arrived') return;
    if (furthest() > before) retries.reset();
    const next = retries.pauseAfterFailure();
    const isRefused = answer === 'refused' || (answer === 'expired' && isNew);
    if (isRefused || next === undefined) throw outcome instanceof ServiceProblem ? outcome : refusal(outcome);
    onInterruption();
    await pause(next, signal);
    if (answer === 'expired') target = undefined;
  }

  async function attempt(): Promise<Answer | undefined> {
    target ??= await renew();
    return target && (await put(target));
  }
}

function refusal({ status, body }: Answer): ServiceProblem {
  const [, code = ''] = /<Code>([^<]*)/.exec(body) ?? [];
  const detail = `Storage refused the file with status ${status}${code && ` (${code})`}.`;
  return new ServiceProblem({ status, code: 'unexpected', detail, request: 'PUT storage' });
}
