import type { Contract, Examples } from '../http/contract.ts';
import type { Route } from '../http/route.ts';
import * as approve from './approvals/approve.ts';
import * as listApprovals from './approvals/list-approvals.ts';
import * as withdrawApproval from './approvals/withdraw-approval.ts';
import * as createAsset from './assets/create-asset.ts';
import * as deleteAsset from './assets/delete-asset.ts';
import * as getAsset from './assets/get-asset.ts';
import * as linkAsset from './assets/link-asset.ts';
import * as listAssets from './assets/list-assets.ts';
import * as listLinkedComputations from './assets/list-linked-computations.ts';
import * as unlinkAsset from './assets/unlink-asset.ts';
import * as updateAsset from './assets/update-asset.ts';
import * as createComputation from './computations/create-computation.ts';
import * as deleteComputation from './computations/delete-computation.ts';
import * as getComputation from './computations/get-computation.ts';
import * as listComputations from './computations/list-computations.ts';
import * as updateComputation from './computations/update-computation.ts';
import * as deleteCvm from './cvms/delete-cvm.ts';
import * as getCvm from './cvms/get-cvm.ts';
import * as listCommands from './cvms/list-commands.ts';
import * as listCvms from './cvms/list-cvms.ts';
import * as registerCvm from './cvms/register-cvm.ts';
import * as report from './cvms/report.ts';
import * as getStatus from './events/get-status.ts';
import * as listEvents from './events/list-events.ts';
import * as checkKey from './keys/check-key.ts';
import * as uploadKey from './keys/upload-key.ts';
import * as dryRun from './runs/dry-run.ts';
import * as getEvidence from './runs/get-evidence.ts';
import * as getManifest from './runs/get-manifest.ts';
import * as getRun from './runs/get-run.ts';
import * as listRuns from './runs/list-runs.ts';
import * as startRun from './runs/start-run.ts';
import * as stopRunByGet from './runs/stop-run-by-get.ts';
import * as stopRun from './runs/stop-run.ts';
import * as health from './service/health.ts';
import * as jwks from './service/jwks.ts';
import * as openapi from './service/openapi.ts';
import * as getStatistics from './statistics/get-statistics.ts';
import * as getTodo from './todo/get-todo.ts';

/** An endpoint's file. Its handler imports the route and the contract, so the examples stay out of the handler's bundle. */
interface Endpoint {
  route: Route;
  contract: Contract;
  examples: Examples;
}

/** Every endpoint, in the contract's order. Everything that goes over the endpoints derives from this list. */
export const endpoints = [
  createComputation,
  listComputations,
  getComputation,
  updateComputation,
  deleteComputation,
  startRun,
  getRun,
  listRuns,
  getStatistics,
  uploadKey,
  checkKey,
  dryRun,
  stopRunByGet,
  stopRun,
  getManifest,
  createAsset,
  listAssets,
  getAsset,
  updateAsset,
  deleteAsset,
  linkAsset,
  listLinkedComputations,
  unlinkAsset,
  listEvents,
  getStatus,
  listCommands,
  report,
  getEvidence,
  approve,
  listApprovals,
  withdrawApproval,
  getTodo,
  listCvms,
  getCvm,
  registerCvm,
  deleteCvm,
  health,
  openapi,
  jwks,
] as const satisfies readonly Endpoint[];

export type KnownEndpoint = (typeof endpoints)[number];
export type RouteName = KnownEndpoint['route']['name'];

export const routes = endpoints.map(({ route }) => route);
