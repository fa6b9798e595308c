import type { Role } from 'computation-management-formats/vocabulary';
import type { Relation } from '../../shared/http/caller.ts';

/** The roles and their actions in docs/contract.md, section 2, copied by hand to check the tables of the code. */
export const actionsOf: Record<Role, string> = {
  administrator: 'view create_computation provide_algorithm provide_dataset edit run consume_results administer',
  creator: 'view create_computation provide_algorithm provide_dataset',
  editor: 'view edit',
  runner: 'view run',
  viewer: 'view',
  algo_provider: 'view provide_algorithm',
  dataset_provider: 'view provide_dataset',
  result_consumer: 'view consume_results',
  cvm: 'operate_cvm',
};

/** An endpoint of the contract. */
export interface SpecifiedEndpoint {
  /** 1 to 26; 0 for an endpoint without a number. */
  number: number;
  method: string;
  path: string;
  /** Actions and relations, any of which is enough. `administer` stands for "administrator". Empty: public. */
  needs: string;
}

/** The endpoints and their needs, also copied by hand. The path parameter {assetID} is {id} here. */
export const specified: readonly SpecifiedEndpoint[] = [
  { number: 1, method: 'POST', path: '/{domainID}/computations', needs: 'create_computation' },
  { number: 2, method: 'GET', path: '/{domainID}/computations', needs: 'view' },
  { number: 3, method: 'GET', path: '/{domainID}/computations/{id}', needs: 'view' },
  { number: 4, method: 'PUT', path: '/{domainID}/computations/{id}', needs: 'edit or owner' },
  { number: 5, method: 'DELETE', path: '/{domainID}/computations/{id}', needs: 'administer or owner' },
  { number: 6, method: 'POST', path: '/{domainID}/computations/{id}/run', needs: 'run or owner' },
  { number: 7, method: 'GET', path: '/{domainID}/computations/{id}/run', needs: 'view' },
  { number: 8, method: 'GET', path: '/{domainID}/computations/runs', needs: 'view' },
  { number: 9, method: 'GET', path: '/{domainID}/computations/statistics', needs: 'view' },
  { number: 10, method: 'POST', path: '/{domainID}/computations/{id}/key', needs: 'view' },
  { number: 11, method: 'GET', path: '/{domainID}/computations/{id}/key', needs: 'view' },
  { number: 12, method: 'POST', path: '/{domainID}/computations/{id}/dryrun', needs: 'view' },
  { number: 13, method: 'GET', path: '/{domainID}/computations/{id}/stop', needs: 'run or owner or creator' },
  { number: 13, method: 'POST', path: '/{domainID}/computations/{id}/stop', needs: 'run or owner or creator' },
  { number: 14, method: 'GET', path: '/{domainID}/computations/{id}/manifest', needs: 'view' },
  { number: 15, method: 'POST', path: '/{domainID}/assets', needs: 'provide_algorithm or provide_dataset' },
  { number: 16, method: 'GET', path: '/{domainID}/assets', needs: 'view' },
  { number: 17, method: 'GET', path: '/{domainID}/assets/{id}', needs: 'view' },
  { number: 18, method: 'PUT', path: '/{domainID}/assets/{id}', needs: 'administer or creator' },
  { number: 19, method: 'DELETE', path: '/{domainID}/assets/{id}', needs: 'administer or creator' },
  { number: 20, method: 'POST', path: '/{domainID}/assets/{id}/{computationID}', needs: 'administer or creator or owner' },
  { number: 21, method: 'GET', path: '/{domainID}/assets/{id}/computations', needs: 'view' },
  { number: 22, method: 'PUT', path: '/{domainID}/assets/{id}/{computationID}', needs: 'administer or creator or owner' },
  { number: 23, method: 'GET', path: '/{domainID}/computations/{id}/events', needs: 'view' },
  { number: 24, method: 'GET', path: '/{domainID}/computations/{id}/status', needs: 'view' },
  { number: 25, method: 'GET', path: '/{domainID}/cvms/{cvmID}/commands', needs: 'operate_cvm' },
  { number: 26, method: 'POST', path: '/{domainID}/cvms/{cvmID}/reports', needs: 'operate_cvm' },
  { number: 0, method: 'GET', path: '/{domainID}/computations/{id}/attestation', needs: 'view' },
  { number: 0, method: 'GET', path: '/{domainID}/computations/{id}/evidence', needs: 'view' },
  { number: 0, method: 'POST', path: '/{domainID}/computations/{id}/result', needs: 'reviewer' },
  { number: 0, method: 'POST', path: '/{domainID}/computations/{id}/result/decision', needs: 'reviewer' },
  { number: 0, method: 'GET', path: '/{domainID}/computations/{id}/result', needs: 'view' },
  {
    number: 0,
    method: 'POST',
    path: '/{domainID}/computations/{id}/approvals',
    needs: 'owner or creator or consumer or provider or reviewer',
  },
  { number: 0, method: 'GET', path: '/{domainID}/computations/{id}/approvals', needs: 'view' },
  { number: 0, method: 'DELETE', path: '/{domainID}/computations/{id}/approvals', needs: 'view' },
  { number: 0, method: 'DELETE', path: '/{domainID}/computations/{id}/key', needs: 'view' },
  { number: 0, method: 'GET', path: '/{domainID}/todo', needs: 'view' },
  { number: 0, method: 'PUT', path: '/{domainID}/notifications', needs: 'view or operate_cvm' },
  { number: 0, method: 'GET', path: '/{domainID}/notifications', needs: 'view or operate_cvm' },
  { number: 0, method: 'GET', path: '/{domainID}/find', needs: 'view' },
  { number: 0, method: 'GET', path: '/{domainID}/computations/{id}/logs', needs: 'owner or creator or consumer or reviewer' },
  { number: 0, method: 'GET', path: '/{domainID}/releases', needs: 'view' },
  { number: 0, method: 'POST', path: '/{domainID}/releases/{id}', needs: 'view' },
  { number: 0, method: 'POST', path: '/{domainID}/kbs/v0/auth', needs: '' },
  { number: 0, method: 'POST', path: '/{domainID}/kbs/v0/attest', needs: '' },
  { number: 0, method: 'GET', path: '/{domainID}/kbs/v0/resource/{resource+}', needs: '' },
  { number: 0, method: 'GET', path: '/{domainID}/cvms', needs: 'view' },
  { number: 0, method: 'GET', path: '/{domainID}/cvms/{cvmID}', needs: 'view' },
  { number: 0, method: 'PUT', path: '/{domainID}/cvms/{cvmID}', needs: 'administer' },
  { number: 0, method: 'DELETE', path: '/{domainID}/cvms/{cvmID}', needs: 'administer' },
  { number: 0, method: 'PUT', path: '/{domainID}/assets/{id}/key', needs: 'creator' },
  { number: 0, method: 'GET', path: '/{domainID}/assets/{id}/key', needs: 'creator' },
  { number: 0, method: 'DELETE', path: '/{domainID}/assets/{id}/key', needs: 'creator' },
  { number: 0, method: 'POST', path: '/unsubscribe/{secret}', needs: '' },
  { number: 0, method: 'GET', path: '/unsubscribe/{secret}', needs: '' },
  { number: 0, method: 'GET', path: '/health', needs: '' },
  { number: 0, method: 'GET', path: '/openapi.json', needs: '' },
  { number: 0, method: 'GET', path: '/.well-known/jwks.json', needs: '' },
  { number: 0, method: 'GET', path: '/log/checkpoint', needs: '' },
  { number: 0, method: 'GET', path: '/log/tile/{tile+}', needs: '' },
];

export const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;

/** Returns the needs of an endpoint, such as `GET /health`. */
export function needsOf(endpoint: string): string {
  return specified.find((other) => nameOf(other) === endpoint)?.needs ?? '';
}

/** Returns whether a caller with these roles and these relations to the resource may call the endpoint. */
export function mayCall(endpoint: string, roles: Role[], relations: Relation[]): boolean {
  if (roles.length === 0) return false;
  const has = new Set<string>([...roles.flatMap((role) => actionsOf[role].split(' ')), ...relations]);
  return needsOf(endpoint)
    .split(' or ')
    .some((need) => has.has(need));
}
