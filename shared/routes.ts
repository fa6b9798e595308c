import type { Access } from './access/caller.ts';

/** The part of AWS that a function calls, as IAM actions without their service prefix. */
export interface Uses {
  table?: readonly TableAction[];
  /** S3 object actions under the prefix `content/`. */
  content?: readonly ('GetObject' | 'PutObject' | 'DeleteObject')[];
  /** Without it S3 answers 403, not 404, where there is no object. */
  bucket?: readonly 'ListBucket'[];
  stateMachine?: readonly StateMachineAction[];
}

export type TableAction =
  'GetItem' | 'BatchGetItem' | 'BatchWriteItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'DeleteItem' | 'ConditionCheckItem';

export type StateMachineAction =
  'StartExecution' | 'DescribeExecution' | 'SendTaskSuccess' | 'SendTaskFailure' | 'SendTaskHeartbeat';

/** One row per endpoint: everything that CDK, the one-machine stack, the OpenAPI document and the tests derive from. */
export interface Route {
  /** File below functions/, test, construct id and log dimension. */
  name: string;
  /** The number in the specification (1 to 24) or in the decisions (25, 26); none for what is public. */
  endpoint?: number;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  summary: string;
  /** Left out: public, without a token. */
  access?: Access;
  uses: Uses;
  /** What a user loses while it fails; the alarm says it. */
  loses: string;
}

const view = { anyOf: ['view'] } as const;
const read = ['GetItem', 'BatchGetItem', 'Query'] as const;
/** Reads, an event in the journal, and the row that it speaks of. */
const append = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'] as const;
const appendAndDelete = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'] as const;

export const createComputationRoute = {
  name: 'computations/create-computation',
  endpoint: 1,
  method: 'POST',
  path: '/{domainID}/computations',
  summary: 'Create a computation',
  access: { anyOf: ['create_computation'] },
  uses: { table: ['PutItem', 'UpdateItem'] },
  loses: 'Nobody can create a computation.',
} as const satisfies Route;

export const listComputationsRoute = {
  name: 'computations/list-computations',
  endpoint: 2,
  method: 'GET',
  path: '/{domainID}/computations',
  summary: 'List the computations of the domain, newest first',
  access: view,
  uses: { table: ['BatchGetItem', 'Query'] },
  loses: 'Nobody sees the list of computations.',
} as const satisfies Route;

export const getComputationRoute = {
  name: 'computations/get-computation',
  endpoint: 3,
  method: 'GET',
  path: '/{domainID}/computations/{id}',
  summary: 'Read a computation',
  access: view,
  uses: { table: ['GetItem', 'Query'] },
  loses: 'Nobody can open a computation.',
} as const satisfies Route;

export const updateComputationRoute = {
  name: 'computations/update-computation',
  endpoint: 4,
  method: 'PUT',
  path: '/{domainID}/computations/{id}',
  summary: 'Replace a computation',
  access: { anyOf: ['edit'], or: ['owner'] },
  uses: { table: append },
  loses: 'Changes to computations are refused.',
} as const satisfies Route;

export const deleteComputationRoute = {
  name: 'computations/delete-computation',
  endpoint: 5,
  method: 'DELETE',
  path: '/{domainID}/computations/{id}',
  summary: 'Delete a computation with its events, runs, keys and links',
  access: { anyOf: ['administer'], or: ['owner'] },
  uses: { table: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'] },
  loses: 'Computations cannot be deleted.',
} as const satisfies Route;

export const startRunRoute = {
  name: 'runs/start-run',
  endpoint: 6,
  method: 'POST',
  path: '/{domainID}/computations/{id}/run',
  summary: 'Run a computation on a CVM',
  access: { anyOf: ['run'], or: ['owner'] },
  uses: { table: appendAndDelete, stateMachine: ['StartExecution'] },
  loses: 'No run can be started.',
} as const satisfies Route;

export const getRunRoute = {
  name: 'runs/get-run',
  endpoint: 7,
  method: 'GET',
  path: '/{domainID}/computations/{id}/run',
  summary: 'Read the latest run of a computation, or an older one',
  access: view,
  uses: { table: ['GetItem'] },
  loses: 'Nobody sees how a run is doing.',
} as const satisfies Route;

export const listRunsRoute = {
  name: 'runs/list-runs',
  endpoint: 8,
  method: 'GET',
  path: '/{domainID}/computations/runs',
  summary: 'List the runs of the domain, newest first',
  access: view,
  uses: { table: ['BatchGetItem', 'Query'] },
  loses: 'Nobody sees the list of runs.',
} as const satisfies Route;

export const getStatisticsRoute = {
  name: 'statistics/get-statistics',
  endpoint: 9,
  method: 'GET',
  path: '/{domainID}/computations/statistics',
  summary: 'Count how many computations entered each status on each day',
  access: view,
  uses: { table: ['Query'] },
  loses: 'Dashboards show no statistics.',
} as const satisfies Route;

export const uploadKeyRoute = {
  name: 'keys/upload-key',
  endpoint: 10,
  method: 'POST',
  path: '/{domainID}/computations/{id}/key',
  summary: "Upload the caller's public key to a computation",
  access: view,
  uses: { table: append },
  loses: 'Participants cannot hand in their keys, so runs stay incomplete.',
} as const satisfies Route;

export const checkKeyRoute = {
  name: 'keys/check-key',
  endpoint: 11,
  method: 'GET',
  path: '/{domainID}/computations/{id}/key',
  summary: "Say whether the caller's key was uploaded",
  access: view,
  uses: { table: ['BatchGetItem'] },
  loses: 'Participants cannot see whether their key is there.',
} as const satisfies Route;

export const dryRunRoute = {
  name: 'runs/dry-run',
  endpoint: 12,
  method: 'POST',
  path: '/{domainID}/computations/{id}/dryrun',
  summary: 'Say what a run would still lack',
  access: view,
  uses: { table: read },
  loses: 'Nobody can check whether a computation is ready to run.',
} as const satisfies Route;

const stopRunByGetRoute = {
  name: 'runs/stop-run',
  endpoint: 13,
  method: 'GET',
  path: '/{domainID}/computations/{id}/stop',
  summary: 'Stop the run of a computation (prefer POST)',
  access: { anyOf: ['run'], or: ['owner'] },
  uses: { table: append, stateMachine: ['StartExecution'] },
  loses: 'Runs cannot be stopped.',
} as const satisfies Route;

export const stopRunRoute = {
  name: 'runs/stop-run',
  endpoint: 13,
  method: 'POST',
  path: '/{domainID}/computations/{id}/stop',
  summary: 'Stop the run of a computation',
  access: { anyOf: ['run'], or: ['owner'] },
  uses: { table: append, stateMachine: ['StartExecution'] },
  loses: 'Runs cannot be stopped.',
} as const satisfies Route;

export const getManifestRoute = {
  name: 'runs/get-manifest',
  endpoint: 14,
  method: 'GET',
  path: '/{domainID}/computations/{id}/manifest',
  summary: 'Read the manifest that a CVM would get, or the one that a run was started with',
  access: view,
  uses: { table: read },
  loses: 'Nobody can check what a CVM was or would be told.',
} as const satisfies Route;

export const createAssetRoute = {
  name: 'assets/create-asset',
  endpoint: 15,
  method: 'POST',
  path: '/{domainID}/assets',
  summary: 'Create an asset, with its content or with a presigned upload',
  access: { anyOf: ['provide_algorithm', 'provide_dataset'] },
  uses: { table: ['PutItem', 'UpdateItem', 'DeleteItem'], content: ['PutObject'] },
  loses: 'No algorithm or dataset can be added.',
} as const satisfies Route;

export const listAssetsRoute = {
  name: 'assets/list-assets',
  endpoint: 16,
  method: 'GET',
  path: '/{domainID}/assets',
  summary: 'List the assets of the domain, newest first',
  access: view,
  uses: { table: ['BatchGetItem', 'Query'] },
  loses: 'Nobody sees the list of assets.',
} as const satisfies Route;

export const getAssetRoute = {
  name: 'assets/get-asset',
  endpoint: 17,
  method: 'GET',
  path: '/{domainID}/assets/{id}',
  summary: 'Read an asset with its content, or a presigned download',
  access: view,
  uses: { table: ['GetItem'], content: ['GetObject'], bucket: ['ListBucket'] },
  loses: 'Nobody can open an asset.',
} as const satisfies Route;

export const updateAssetRoute = {
  name: 'assets/update-asset',
  endpoint: 18,
  method: 'PUT',
  path: '/{domainID}/assets/{id}',
  summary: 'Replace an asset',
  access: { anyOf: ['administer'], or: ['creator'] },
  uses: { table: appendAndDelete, content: ['PutObject'] },
  loses: 'Changes to assets are refused.',
} as const satisfies Route;

export const deleteAssetRoute = {
  name: 'assets/delete-asset',
  endpoint: 19,
  method: 'DELETE',
  path: '/{domainID}/assets/{id}',
  summary: 'Delete an asset with its content and links',
  access: { anyOf: ['administer'], or: ['creator'] },
  uses: { table: appendAndDelete },
  loses: 'Assets cannot be deleted.',
} as const satisfies Route;

export const linkAssetRoute = {
  name: 'assets/link-asset',
  endpoint: 20,
  method: 'POST',
  path: '/{domainID}/assets/{id}/{computationID}',
  summary: 'Link an asset to a computation',
  access: { anyOf: ['administer'], or: ['creator', 'owner'] },
  uses: { table: append },
  loses: 'Assets cannot be linked, so computations stay incomplete.',
} as const satisfies Route;

export const listLinkedComputationsRoute = {
  name: 'assets/list-linked-computations',
  endpoint: 21,
  method: 'GET',
  path: '/{domainID}/assets/{id}/computations',
  summary: 'List the computations that an asset is linked to',
  access: view,
  uses: { table: read },
  loses: 'Nobody sees where an asset is used.',
} as const satisfies Route;

export const unlinkAssetRoute = {
  name: 'assets/unlink-asset',
  endpoint: 22,
  method: 'PUT',
  path: '/{domainID}/assets/{id}/{computationID}',
  summary: 'Unlink an asset from a computation',
  access: { anyOf: ['administer'], or: ['creator', 'owner'] },
  uses: { table: appendAndDelete },
  loses: 'Assets cannot be unlinked.',
} as const satisfies Route;

export const listEventsRoute = {
  name: 'events/list-events',
  endpoint: 23,
  method: 'GET',
  path: '/{domainID}/computations/{id}/events',
  summary: 'List the events of a computation, newest first',
  access: view,
  uses: { table: read },
  loses: 'Nobody can follow what happened.',
} as const satisfies Route;

export const getStatusRoute = {
  name: 'events/get-status',
  endpoint: 24,
  method: 'GET',
  path: '/{domainID}/computations/{id}/status',
  summary: "Read the latest event of a computation's lifecycle",
  access: view,
  uses: { table: ['BatchGetItem'] },
  loses: 'Nobody sees the status of a computation.',
} as const satisfies Route;

export const listCommandsRoute = {
  name: 'cvms/list-commands',
  endpoint: 25,
  method: 'GET',
  path: '/{domainID}/cvms/{cvmID}/commands',
  summary: 'The commands that wait for a CVM, oldest first',
  access: { anyOf: ['operate_cvm'] },
  uses: { table: ['BatchGetItem', 'Query'] },
  loses: 'CVMs get no work: runs are not accepted and fail.',
} as const satisfies Route;

export const reportRoute = {
  name: 'cvms/report',
  endpoint: 26,
  method: 'POST',
  path: '/{domainID}/cvms/{cvmID}/reports',
  summary: 'What a CVM reports of its run',
  access: { anyOf: ['operate_cvm'] },
  uses: {
    table: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
    stateMachine: ['SendTaskSuccess', 'SendTaskHeartbeat'],
  },
  loses: 'Reports of CVMs are refused: running computations look silent and fail.',
} as const satisfies Route;

export const healthRoute = {
  name: 'service/health',
  method: 'GET',
  path: '/health',
  summary: 'Whether the service answers',
  uses: {},
  loses: 'Health checks fail.',
} as const satisfies Route;

export const openapiRoute = {
  name: 'service/openapi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'This document',
  uses: {},
  loses: 'The API document cannot be read.',
} as const satisfies Route;

/** Every route. A handler imports its own row alone, so that the others stay out of its bundle. */
export const routes = [
  createComputationRoute,
  listComputationsRoute,
  getComputationRoute,
  updateComputationRoute,
  deleteComputationRoute,
  startRunRoute,
  getRunRoute,
  listRunsRoute,
  getStatisticsRoute,
  uploadKeyRoute,
  checkKeyRoute,
  dryRunRoute,
  stopRunByGetRoute,
  stopRunRoute,
  getManifestRoute,
  createAssetRoute,
  listAssetsRoute,
  getAssetRoute,
  updateAssetRoute,
  deleteAssetRoute,
  linkAssetRoute,
  listLinkedComputationsRoute,
  unlinkAssetRoute,
  listEventsRoute,
  getStatusRoute,
  listCommandsRoute,
  reportRoute,
  healthRoute,
  openapiRoute,
] as const;

export type RouteName = (typeof routes)[number]['name'];
