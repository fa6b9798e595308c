import { ServiceProblem, type Schemas } from '../../client/index.ts';
import { pause } from '../../client/pause.ts';
import { storageAnswer } from '../../client/storage-answer.ts';
import type { Answer } from './put-file.ts';

type Target = Schemas['AssetUpload'];

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

const fewestFailures = 5;
const patienceInMilliseconds = 300_000;
const longestPauseInMilliseconds = 30_000;

/**
 * Sends the content of an asset to storage. Repeats it if the connection breaks, if the link has expired, or if storage asks for it.
 * Gives up, as cms does, after five minutes and five attempts in which none came further than those before.
 * @param first the link of the first attempt. Default: a new one
 * @throws ServiceProblem if storage refuses, or that of the last attempt; the signal's reason
 */
export async function sendContent(first: Target | undefined, options: Options): Promise<void> {
  const { put, renew, furthest, onInterruption, signal, firstPauseInMilliseconds = 500, now = Date.now } = options;
  let target = first ?? (await renew());
  let [failures, failingSince] = [0, 0];
  while (target) {
    const before = furthest();
    const outcome = await put(target).catch(brokenConnection);
    const answer = outcome instanceof ServiceProblem ? 'again' : storageAnswer(outcome.status, outcome.body);
    if (answer === 'arrived') return;
    failures = furthest() > before ? 1 : failures + 1;
    if (failures === 1) failingSince = now();
    const isOver = failures >= fewestFailures && now() - failingSince >= patienceInMilliseconds;
    if (answer === 'refused' || isOver) throw outcome instanceof ServiceProblem ? outcome : refusal(outcome);
    onInterruption();
    await pause(Math.min(firstPauseInMilliseconds * 2 ** (failures - 1), longestPauseInMilliseconds), signal);
    if (answer === 'expired') target = await renew();
  }
}

/** @throws any other error */
function brokenConnection(error: unknown): ServiceProblem {
  if (error instanceof ServiceProblem && error.code === 'unreachable') return error;
  throw error;
}

function refusal({ status, body }: Answer): ServiceProblem {
  const [, code = ''] = /<Code>([^<]*)/.exec(body) ?? [];
  const detail = `Storage refused the file with status ${status}${code && ` (${code})`}.`;
  return new ServiceProblem({ status, code: 'unexpected', detail, request: 'PUT storage' });
}
