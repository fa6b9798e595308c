import type { Role } from '../../shared/access/roles.ts';

/** docs/contract.md, section 2: the roles and what they may do, copied by hand: the code's own tables are held against it. */
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

/** The endpoints and what they need, likewise; `administer` stands for "administrator". Without needs: public. */
export const needsOf: Record<string, string> = {
  'POST /{domainID}/computations': 'create_computation',
  'GET /{domainID}/computations': 'view',
  'GET /{domainID}/computations/{id}': 'view',
  'PUT /{domainID}/computations/{id}': 'edit or owner',
  'DELETE /{domainID}/computations/{id}': 'administer or owner',
  'POST /{domainID}/computations/{id}/run': 'run or owner',
  'GET /{domainID}/computations/{id}/run': 'view',
  'GET /{domainID}/computations/runs': 'view',
  'GET /{domainID}/computations/statistics': 'view',
  'POST /{domainID}/computations/{id}/key': 'view',
  'GET /{domainID}/computations/{id}/key': 'view',
  'POST /{domainID}/computations/{id}/dryrun': 'view',
  'GET /{domainID}/computations/{id}/stop': 'run or owner',
  'POST /{domainID}/computations/{id}/stop': 'run or owner',
  'GET /{domainID}/computations/{id}/manifest': 'view',
  'POST /{domainID}/assets': 'provide_algorithm or provide_dataset',
  'GET /{domainID}/assets': 'view',
  'GET /{domainID}/assets/{id}': 'view',
  'PUT /{domainID}/assets/{id}': 'administer or creator',
  'DELETE /{domainID}/assets/{id}': 'administer or creator',
  'POST /{domainID}/assets/{id}/{computationID}': 'administer or creator or owner',
  'GET /{domainID}/assets/{id}/computations': 'view',
  'PUT /{domainID}/assets/{id}/{computationID}': 'administer or creator or owner',
  'GET /{domainID}/computations/{id}/events': 'view',
  'GET /{domainID}/computations/{id}/status': 'view',
  'GET /{domainID}/cvms/{cvmID}/commands': 'operate_cvm',
  'POST /{domainID}/cvms/{cvmID}/reports': 'operate_cvm',
  'GET /health': '',
  'GET /openapi.json': '',
};

/** Whether someone with these roles, and these relations to what the path names, may call the endpoint. */
export function mayCall(endpoint: string, roles: Role[], relations: ('owner' | 'creator')[]): boolean {
  if (roles.length === 0) return false;
  const has = new Set<string>([...roles.flatMap((role) => actionsOf[role].split(' ')), ...relations]);
  return (needsOf[endpoint] ?? '').split(' or ').some((need) => has.has(need));
}
