import type { Schemas } from 'computation-management-client';

/** What a computation demands before a run. */
export const approvalTexts: Record<Schemas['Computation']['approval'], string> = {
  none: 'Only where an asset asks for it',
  all: 'Every party approves',
  all_signed: 'Every party approves, with a signature',
};

/** The policies in the order in which they may be raised. They are never lowered. */
export const approvalPolicies = ['none', 'all', 'all_signed'] as const;
