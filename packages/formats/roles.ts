/** The actions that a role may allow inside a domain. */
export type AccessAction =
  | 'view'
  | 'create_computation'
  | 'provide_algorithm'
  | 'provide_dataset'
  | 'edit'
  | 'run'
  | 'consume_results'
  | 'administer'
  | 'operate_cvm';

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
} as const satisfies Record<string, readonly AccessAction[]>;

export type Role = keyof typeof roles;

/** Returns the roles that allow one of the actions. */
export function rolesWith(...actions: AccessAction[]): Role[] {
  const names = Object.keys(roles) as Role[];
  return names.filter((role) => roles[role].some((action) => actions.includes(action)));
}

export function isRole(text: string): text is Role {
  return Object.hasOwn(roles, text);
}

/** What a token says about its user in one domain. */
interface Membership {
  domain: string;
  role: Role;
  /** The CVM that the role `cvm` is bound to. Undefined: every CVM of the domain. */
  boundTo?: string;
}

/** The first two colons divide: an identifier of a CVM may contain more. @returns undefined if it is malformed */
export function parseMembership(text: string): Membership | undefined {
  const [, domain = '', role = '', boundTo] = /^([^:]+):([^:]+)(?::(.+))?$/s.exec(text) ?? [];
  if (!isRole(role)) return undefined;
  if (boundTo === undefined) return { domain, role };
  return role === 'cvm' ? { domain, role, boundTo } : undefined;
}
