import { KMSClient } from '@aws-sdk/client-kms';
import { clientLimits } from './client-limits.ts';
import { sharedClient } from './clients.ts';
import { Deadline, type DeadlineSource } from './deadline.ts';

/** Access to the keys of the stage. They never leave KMS. */
export interface Kms {
  client: KMSClient;
  /** Default: a new deadline of 5 seconds for each call. */
  deadline?: DeadlineSource;
}

const createClient = () => new KMSClient({ requestHandler: clientLimits });

/** Opens the keys of the stage. The client is created at the first call. */
export function openKms(deadline: DeadlineSource): Kms {
  return { client: sharedClient(createClient), deadline };
}

/** Ends a call that is still open at the deadline. */
export function untilDeadline({ deadline }: Kms): { abortSignal: AbortSignal } {
  return { abortSignal: (deadline?.() ?? new Deadline()).signal() };
}
