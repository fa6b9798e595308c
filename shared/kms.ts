import { KMSClient } from '@aws-sdk/client-kms';
import { clientLimits } from './client-limits.ts';
import { Deadline, type DeadlineSource } from './deadline.ts';

/** Access to the keys of the stage. They never leave KMS. */
export interface Kms {
  client: KMSClient;
  /** Default: a new deadline of 5 seconds for each call. */
  deadline?: DeadlineSource;
}

let client: KMSClient | undefined;

/** Opens the keys of the stage. The client is created at the first call. */
export function openKms(deadline: DeadlineSource): Kms {
  client ??= new KMSClient({ requestHandler: clientLimits });
  return { client, deadline };
}

/** Ends a call that is still open at the deadline. */
export function untilDeadline({ deadline }: Kms): { abortSignal: AbortSignal } {
  return { abortSignal: (deadline?.() ?? new Deadline()).signal() };
}
