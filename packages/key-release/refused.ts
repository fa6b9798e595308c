/**
 * The error for a request that the protocol refuses. Its message is a sentence for the client. `again`: another attestation may succeed,
 * so the answer is 401. Else the request itself is wrong.
 */
export class Refused extends Error {
  readonly again: boolean;

  constructor(sentence: string, { again = false } = {}) {
    super(sentence);
    this.again = again;
  }
}

/** Returns what a function returns. @throws Refused with the sentence if the function throws */
export function orRefuse<T>(attempt: () => T, sentence: string): T {
  try {
    return attempt();
  } catch {
    throw new Refused(sentence);
  }
}

/** Makes the error for a client that should attest again, because another attestation may succeed. Its message ends with that advice. */
export const refusedNow = (why: string) => new Refused(`${why} Attest again.`, { again: true });
