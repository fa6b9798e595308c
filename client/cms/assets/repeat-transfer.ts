import { setTimeout as delay } from 'node:timers/promises';

interface Options {
  signal: AbortSignal;
  /** How many bytes were transferred so far, in this attempt and those before. */
  progressed: () => number;
  /** Called before each repeat. */
  onCut: (error: Error) => void;
}

const mostFailuresInARow = 5;
const firstPauseInMilliseconds = 500;

/**
 * Repeats a transfer whose connection breaks. Gives up after five attempts in a row that transferred nothing.
 * @throws the error of the last attempt
 */
export async function repeatTransfer<Result>(attempt: () => Promise<Result>, options: Options): Promise<Result> {
  const { signal, progressed, onCut } = options;
  for (let failures = 0; ;) {
    const before = progressed();
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Error) || !isBrokenConnection(error)) throw error;
      signal.throwIfAborted();
      failures = progressed() > before ? 1 : failures + 1;
      if (failures >= mostFailuresInARow) throw error;
      onCut(error);
      await delay(firstPauseInMilliseconds * 2 ** (failures - 1), undefined, { signal });
    }
  }
}

function isBrokenConnection(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  const cause = error.cause instanceof Error && 'code' in error.cause ? String(error.cause.code) : '';
  return /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_|UND_ERR|ERR_STREAM_PREMATURE_CLOSE)/.test(code || cause);
}
