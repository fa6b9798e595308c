export const assetTypes = ['algorithm', 'dataset'] as const;
export type AssetType = (typeof assetTypes)[number];

export const finalStatuses = ['completed', 'failed', 'cancelled'] as const;
export const runStatuses = ['running', 'stopping', ...finalStatuses] as const;

export const computationStatuses = ['created', ...runStatuses] as const;
export type ComputationStatus = (typeof computationStatuses)[number];

/** Whose approval a run needs, from the least to the most (docs/contract.md, section 9). */
export const approvalLevels = ['none', 'all', 'all_signed'] as const;
export type ApprovalLevel = (typeof approvalLevels)[number];

/** Who may read the log of a run (docs/contract.md, section 15). */
export const logAccesses = ['none', 'parties'] as const;
export type LogAccess = (typeof logAccesses)[number];

export const mostConsumers = 40;
/** Who may link their own assets to a computation. */
export const mostProviders = 100;

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

/** The originator of the service's own events that no user caused. */
export const system = 'system';

/** The parts of a CVM that report events. A report cannot name the service or a user as originator. */
export const reporters = ['agent', 'computation-runner'] as const;
export type Reporter = (typeof reporters)[number];

const reserved = new Set<string>([system, ...reporters]);

/** Returns whether a name is that of an originator, so that no user can have it. */
export function isReservedName(name: string): boolean {
  return reserved.has(name);
}
