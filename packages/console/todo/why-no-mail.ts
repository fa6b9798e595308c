import { type Schemas, ServiceProblem } from 'computation-management-client';

/** Returns why a user gets no mail. Undefined if nothing prevents it. @param problem the error of the latest attempt to turn it on */
export function whyNoMail({ is_sent }: Schemas['Notifications'], problem: unknown): string | undefined {
  if (!is_sent) return 'The operator of this service has not set up mail.';
  if (!(problem instanceof ServiceProblem) || problem.reason !== 'no_verified_address') return undefined;
  return 'Your sign-in gives this service no verified address. Verify yours where you sign in, or ask the operator of this service. Then sign in again.';
}
