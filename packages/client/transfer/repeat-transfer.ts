import { causeOf } from '../cause-of.ts';
import { pause } from '../pause.ts';
import { isTransient, ServiceProblem } from '../service-problem.ts';
import { retryLimit } from './retry-limit.ts';

/** A transfer that was cut off. It is repeated after this. */
export interface Cut {
  /** Its message says why. */
  error: Error;
  /** How many attempts in a row brought nothing. */
  failures: number;
}

export interface RepeatOptions {
  signal?: AbortSignal | undefined;
  /** How many bytes the furthest attempt has transferred. Default: not known. */
  furthest?: (() => number) | undefined;
  onCut?: ((cut: Cut) => void) | undefined;
}

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
  const { signal, furthest = () => 0, onCut } = options;
  const retries = retryLimit();
  for (;;) {
    const before = furthest();
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Error) || !isCut(error)) throw error;
      if (furthest() > before) retries.reset();
      const next = retries.pauseAfterFailure();
      const cut = cutOff(error);
      if (next === undefined) throw error instanceof ServiceProblem ? error : cut;
      onCut?.({ error: cut, failures: retries.failures() });
      await pause(next, signal);
    }
  }
}

function cutOff(error: Error): CutOffError {
  if (error instanceof CutOffError) return error;
  return new CutOffError(error instanceof ServiceProblem ? error.detail : causeOf(error), { cause: error });
}

function isCut(error: Error): boolean {
  if (error instanceof ServiceProblem) return isTransient(error);
  const codes = [error, error.cause].map((each) => (each instanceof Error && 'code' in each ? String(each.code) : ''));
  const isNetwork = /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_|UND_ERR|ERR_STREAM_PREMATURE_CLOSE)/;
  return error instanceof CutOffError || codes.some((code) => isNetwork.test(code));
}
