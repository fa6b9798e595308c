export const assetTypes = ['algorithm', 'dataset'] as const;
export type AssetType = (typeof assetTypes)[number];
/** The type of the asset that a reviewer hands in as the result of a run. Nobody creates, changes or links one otherwise. */
export const resultType = 'result';
/** The types of assets that answers show: those that a client can create, and that of results, which only a review creates. */
export const shownAssetTypes = [...assetTypes, resultType] as const;
export type ShownAssetType = (typeof shownAssetTypes)[number];

export const finalStatuses = ['completed', 'failed', 'cancelled'] as const;
/** The kinds of ends of runs that programs can tell apart. */
export const reasonCodes = ['input_changed'] as const;
export type ReasonCode = (typeof reasonCodes)[number];
export const runStatuses = ['running', 'stopping', ...finalStatuses] as const;

export const computationStatuses = ['created', ...runStatuses] as const;
export type ComputationStatus = (typeof computationStatuses)[number];

/** The levels of approval that a computation may demand, from the least to the most (docs/contract.md, section 9). */
export const approvalLevels = ['none', 'all', 'all_signed'] as const;
export type ApprovalLevel = (typeof approvalLevels)[number];

/** The values that say who may read the logs of a computation's runs (docs/contract.md, section 4). */
export const logAccesses = ['none', 'parties'] as const;
export type LogAccess = (typeof logAccesses)[number];

export const mostConsumers = 40;
/** The most users who may link their own assets to one computation. */
export const mostProviders = 100;

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

/** The types of the events by which the status of a computation changes. */
export const lifecycleEvents = ['created', 'started', 'stop_requested', 'completed', 'failed', 'cancelled'] as const;
export type LifecycleEvent = (typeof lifecycleEvents)[number];

/** The types of the events by which users change a computation or the result of a run, but not its status. */
export const administrativeEvents = [
  'updated',
  'owner_changed',
  'asset_linked',
  'asset_unlinked',
  'key_uploaded',
  'key_removed',
  'approved',
  'approval_withdrawn',
  'approval_refused',
  'result_submitted',
  'result_decided',
  'result_released',
  'result_withheld',
  'key_released',
  'key_refused',
] as const;
export type AdministrativeEvent = (typeof administrativeEvents)[number];

/** The originator of events that the service records without an action of a user. */
export const system = 'system';

/** The originators of events that a CVM's report may name: parts of the CVM, not the service, and no user. */
export const reporters = ['agent', 'computation-runner'] as const;
export type Reporter = (typeof reporters)[number];

const reserved = new Set<string>([system, ...reporters]);

/** Returns whether a name is reserved for the events of the service and of agents, so that no user can have it. */
export const isReservedName = (name: string): boolean => reserved.has(name);

export const roles = {
  administrator: [
    'view',
    'create_computation',
    'provide_algorithm',
    'provide_dataset',
    'edit',
    'run',
    'consume_results',
    'administer',
  ],
  creator: ['view', 'create_computation', 'provide_algorithm', 'provide_dataset'],
  editor: ['view', 'edit'],
  runner: ['view', 'run'],
  viewer: ['view'],
  algo_provider: ['view', 'provide_algorithm'],
  dataset_provider: ['view', 'provide_dataset'],
  result_consumer: ['view', 'consume_results'],
  cvm: ['operate_cvm'],
} as const;

export type Role = keyof typeof roles;

/** An action that a role allows. */
export type AccessAction = (typeof roles)[Role][number];

export function rolesWith(...actions: AccessAction[]): Role[] {
  const names = Object.keys(roles) as Role[];
  return names.filter((role) => roles[role].some((action) => actions.includes(action)));
}

export const isRole = (text: string): text is Role => Object.hasOwn(roles, text);

interface Membership {
  domain: string;
  role: Role;
  /** The identifier of the CVM that a membership with the role `cvm` is for. Undefined: every CVM of the domain. */
  boundTo?: string;
}

/**
 * Parses a membership, `domain:role` or `domain:cvm:identifier`. Only the first two colons divide, because the identifier of a
 * CVM may contain more.
 * @returns undefined if the text is malformed
 */
export function parseMembership(text: string): Membership | undefined {
  const [, domain = '', role = '', boundTo] = /^([^:]+):([^:]+)(?::(.+))?$/s.exec(text) ?? [];
  if (!isRole(role)) return undefined;
  if (boundTo === undefined) return { domain, role };
  return role === 'cvm' ? { domain, role, boundTo } : undefined;
}

/** The acts that a stage's log has entries of: the start of a run, its end, and the release or withholding of its result. */
export const loggedActs = ['run-start', 'run-end', 'result'] as const;
export type LoggedAct = (typeof loggedActs)[number];
