import { causeOf } from '../cause-of.ts';
import { pause } from '../pause.ts';
import { ServiceProblem } from '../service-problem.ts';

/** A transfer that was cut off. It is repeated after this. */
export interface Cut {
  /** Its message says why. */
  error: Error;
  /** How many attempts in a row brought nothing. */
  failures: number;
}

interface RepeatOptions {
  signal?: AbortSignal | undefined;
  /** How many bytes the furthest attempt has transferred. */
  furthest: () => number;
  onCut?: ((cut: Cut) => void) | undefined;
}

const fewestFailures = 5;
const patienceInMilliseconds = 5 * 60_000;
const firstPauseInMilliseconds = 500;
const longestPauseInMilliseconds = 30_000;

/** A transfer that failed, and that succeeds perhaps the next time. */
export class CutOffError extends Error {
  override readonly name = 'CutOffError';
}

/**
 * Repeats a transfer whose connection breaks. Gives up after five minutes and five attempts in which none came further than those
 * before.
 * @throws CutOffError when it gives up, or the ServiceProblem of the last attempt; any other error at once; the signal's reason
 */
export async function repeatTransfer<Result>(attempt: () => Promise<Result>, options: RepeatOptions): Promise<Result> {
  const { signal, furthest, onCut } = options;
  let failingSince = Date.now();
  for (let failures = 0; ;) {
    const before = furthest();
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Error) || !mayPass(error)) throw error;
      failures = furthest() > before ? 1 : failures + 1;
      if (failures === 1) failingSince = Date.now();
      const isOver = failures >= fewestFailures && Date.now() - failingSince >= patienceInMilliseconds;
      const cut = cutOff(error);
      if (isOver) throw error instanceof ServiceProblem ? error : cut;
      onCut?.({ error: cut, failures });
      await pause(Math.min(firstPauseInMilliseconds * 2 ** (failures - 1), longestPauseInMilliseconds), signal);
    }
  }
}

function cutOff(error: Error): CutOffError {
  if (error instanceof CutOffError) return error;
  return new CutOffError(error instanceof ServiceProblem ? error.detail : causeOf(error), { cause: error });
}

function mayPass(error: Error): boolean {
  if (error instanceof ServiceProblem) return error.status === 0 || error.status === 429 || error.status >= 500;
  const codes = [error, error.cause].map((each) => (each instanceof Error && 'code' in each ? String(each.code) : ''));
  const isNetwork = /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_|UND_ERR|ERR_STREAM_PREMATURE_CLOSE)/;
  return error instanceof CutOffError || codes.some((code) => isNetwork.test(code));
}
