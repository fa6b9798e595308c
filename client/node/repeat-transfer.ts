import { pause } from '../pause.ts';

/** A transfer that was cut off. It is repeated after this. */
export interface Cut {
  error: Error;
  /** How many attempts in a row brought nothing. */
  failures: number;
}

interface RepeatOptions {
  signal?: AbortSignal | undefined;
  /** How many bytes will not be transferred again. */
  kept: () => number;
  onCut?: ((cut: Cut) => void) | undefined;
}

const mostFailures = 5;
const firstPauseInMilliseconds = 500;

/** A transfer that failed, and that succeeds perhaps the next time. */
export class CutOffError extends Error {
  override readonly name = 'CutOffError';
}

/**
 * Repeats a transfer whose connection breaks. Gives up after five attempts in a row that brought nothing which stays.
 * @throws the error of the last attempt; the signal's reason
 */
export async function repeatTransfer<Result>(attempt: () => Promise<Result>, options: RepeatOptions): Promise<Result> {
  const { signal, kept, onCut } = options;
  for (let failures = 0; ;) {
    const before = kept();
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Error) || !mayPass(error)) throw error;
      failures = kept() > before ? 1 : failures + 1;
      if (failures >= mostFailures) throw error;
      onCut?.({ error, failures });
      await pause(firstPauseInMilliseconds * 2 ** (failures - 1), signal);
    }
  }
}

function mayPass(error: Error): boolean {
  const codes = [error, error.cause].map((each) => (each instanceof Error && 'code' in each ? String(each.code) : ''));
  const isNetwork = /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_|UND_ERR|ERR_STREAM_PREMATURE_CLOSE)/;
  return error instanceof CutOffError || codes.some((code) => isNetwork.test(code));
}
