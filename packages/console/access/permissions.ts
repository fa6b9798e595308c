import { type AccessAction, type Role, roles as actionsOf } from 'computation-management-formats/vocabulary';

/** The signed-in user, with the roles that the user has in one domain. */
export interface Me {
  user: string;
  may: (action: AccessAction) => boolean;
}

export function meIn(user: string, roles: readonly Role[]): Me {
  const actions = new Set<AccessAction>(roles.flatMap((role) => actionsOf[role]));
  return { user, may: (action) => actions.has(action) };
}

/** Returns the domains in which the user may view anything, sorted by name. */
export function visibleDomains(roles: Record<string, Role[]>): string[] {
  const domains = Object.keys(roles).filter((domain) => meIn('', roles[domain] ?? []).may('view'));
  return domains.sort((one, other) => one.localeCompare(other));
}

type Owned = Record<'owner', string>;
type Created = Record<'created_by', string>;

/** The actions that the API allows the user (docs/contract.md, section 2). The console offers no others. */
export const permissions = {
  createComputation: (me: Me) => me.may('create_computation'),
  editComputation: (me: Me, { owner }: Owned) => me.may('edit') || owner === me.user,
  changeOwner: (me: Me) => me.may('administer'),
  removeKeys: (me: Me, { owner }: Owned) => me.may('administer') || owner === me.user,
  deleteComputation: (me: Me, { owner }: Owned) => me.may('administer') || owner === me.user,
  startRun: (me: Me, { owner }: Owned) => me.may('run') || owner === me.user,
  /** Returns whether the user may stop a run. `creators` are the users whose assets the run uses. */
  stopRun: (me: Me, { owner }: Owned, creators: readonly string[]) =>
    me.may('run') || owner === me.user || creators.includes(me.user),
  createAsset: (me: Me, type: 'algorithm' | 'dataset') => me.may(`provide_${type}`),
  createAnyAsset: (me: Me) => me.may('provide_algorithm') || me.may('provide_dataset'),
  changeAsset: (me: Me, { created_by }: Created) => me.may('administer') || created_by === me.user,
  linkAsset: (me: Me, asset: Created, { owner }: Owned) =>
    me.may('administer') || asset.created_by === me.user || owner === me.user,
  readContent: (me: Me, asset: Created & { content_access: 'creator' | 'domain' }) =>
    asset.created_by === me.user || asset.content_access === 'domain',
  registerCvm: (me: Me) => me.may('administer'),
};
