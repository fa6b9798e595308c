import type { Connection } from './connection.ts';

const longestWaitInMilliseconds = 3_000;
const atOnce = 10;

/**
 * Returns those of the computations whose approvals must be signed. Only commands to type next depend on it, so it asks for at most
 * three seconds, and until Ctrl-C. It leaves out what it has not learned by then.
 */
export async function signedComputations(
  { client }: Connection,
  ids: readonly string[],
  interruption: AbortSignal,
): Promise<Set<string>> {
  const signal = AbortSignal.any([interruption, AbortSignal.timeout(longestWaitInMilliseconds)]);
  const signed = new Set<string>();
  for (let first = 0; first < ids.length && !signal.aborted; first += atOnce) {
    const group = ids.slice(first, first + atOnce).map(async (id) => {
      const computation = await client.getComputation({ id, signal }).catch(() => undefined);
      if (computation?.approval === 'all_signed') signed.add(id);
    });
    await Promise.all(group);
  }
  return signed;
}
