import { Refused } from 'computation-management-key-release';
import { invalid, ServiceError } from '../runtime/errors.ts';

/** The error of a request for a key that another attestation may let through (401). */
export const attestAgain = (sentence: string) => new ServiceError('unauthenticated', sentence);

/** The error of a request for a key that is refused (403). */
export const refused = (sentence: string) => new ServiceError('forbidden', sentence);

/** Calls a function of the protocol, and turns what it refuses into the error of the API. */
export async function byProtocol<Result>(
  work: () => Result | Promise<Result>,
  otherwise = (sentence: string) => invalid('', sentence),
) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw error.again ? attestAgain(error.message) : otherwise(error.message);
  }
}
