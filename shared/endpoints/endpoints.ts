import type { Route } from '../http/route.ts';
import * as approvals from './approvals.ts';
import * as assets from './assets.ts';
import * as computations from './computations.ts';
import * as cvms from './cvms.ts';
import * as events from './events.ts';
import * as find from './find.ts';
import * as keys from './keys.ts';
import * as logs from './logs.ts';
import * as runs from './runs.ts';
import * as service from './service.ts';
import * as statistics from './statistics.ts';
import * as todo from './todo.ts';

/** In the contract's order. Everything that goes over the endpoints derives from it. */
export const routes = [
  computations.createComputation,
  computations.listComputations,
  computations.getComputation,
  computations.updateComputation,
  computations.deleteComputation,
  runs.startRun,
  runs.getRun,
  runs.listRuns,
  statistics.getStatistics,
  keys.uploadKey,
  keys.checkKey,
  runs.dryRun,
  runs.stopRunByGet,
  runs.stopRun,
  runs.getManifest,
  assets.createAsset,
  assets.listAssets,
  assets.getAsset,
  assets.updateAsset,
  assets.deleteAsset,
  assets.linkAsset,
  assets.listLinkedComputations,
  assets.unlinkAsset,
  events.listEvents,
  events.getStatus,
  cvms.listCommands,
  cvms.report,
  runs.getAttestation,
  runs.getEvidence,
  approvals.approve,
  approvals.listApprovals,
  approvals.withdrawApproval,
  keys.removeKey,
  todo.getTodo,
  find.find,
  logs.readLogs,
  cvms.listCvms,
  cvms.getCvm,
  cvms.registerCvm,
  cvms.deleteCvm,
  service.health,
  service.openapi,
  service.jwks,
] as const satisfies readonly Route[];

export type KnownRoute = (typeof routes)[number];
export type RouteName = KnownRoute['name'];
