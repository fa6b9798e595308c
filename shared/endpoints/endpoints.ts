import type { Route } from '../http/route.ts';
import * as approvals from './approvals.ts';
import * as assets from './assets.ts';
import * as attestation from './attestation.ts';
import * as computations from './computations.ts';
import * as cvms from './cvms.ts';
import * as events from './events.ts';
import * as evidence from './evidence.ts';
import * as find from './find.ts';
import * as history from './history.ts';
import * as keys from './keys.ts';
import * as logs from './logs.ts';
import * as notifications from './notifications.ts';
import * as releases from './releases.ts';
import * as results from './results.ts';
import * as runs from './runs.ts';
import * as service from './service.ts';
import * as statistics from './statistics.ts';
import * as todo from './todo.ts';

/**
 * All endpoints of the API, in the order of the contract. Handlers, CDK, the OpenAPI document and the tests go over this list.
 */
export const routes = [
  computations.createComputationRoute,
  computations.listComputationsRoute,
  computations.getComputationRoute,
  computations.updateComputationRoute,
  computations.deleteComputationRoute,
  runs.startRunRoute,
  runs.getRunRoute,
  runs.listRunsRoute,
  statistics.getStatisticsRoute,
  keys.uploadKeyRoute,
  keys.checkKeyRoute,
  runs.dryRunRoute,
  runs.stopRunByGetRoute,
  runs.stopRunRoute,
  runs.getManifestRoute,
  assets.createAssetRoute,
  assets.listAssetsRoute,
  assets.getAssetRoute,
  assets.updateAssetRoute,
  assets.deleteAssetRoute,
  assets.linkAssetRoute,
  assets.listLinkedComputationsRoute,
  assets.unlinkAssetRoute,
  events.listEventsRoute,
  events.getStatusRoute,
  cvms.listCommandsRoute,
  cvms.reportRoute,
  attestation.getAttestationRoute,
  evidence.getEvidenceRoute,
  results.handInResultRoute,
  results.decideResultRoute,
  evidence.getResultRoute,
  approvals.approveRoute,
  approvals.listApprovalsRoute,
  approvals.withdrawApprovalRoute,
  keys.removeKeyRoute,
  todo.getTodoRoute,
  notifications.setNotificationsRoute,
  notifications.getNotificationsRoute,
  find.findRoute,
  logs.readLogsRoute,
  releases.listReleasesRoute,
  releases.answerReleaseRoute,
  releases.authRoute,
  releases.attestRoute,
  releases.getKeyRoute,
  cvms.listCvmsRoute,
  cvms.getCvmRoute,
  cvms.registerCvmRoute,
  cvms.deleteCvmRoute,
  assets.setAssetKeyRoute,
  assets.getAssetKeyRoute,
  assets.removeAssetKeyRoute,
  notifications.unsubscribeRoute,
  notifications.showUnsubscribeRoute,
  service.healthRoute,
  service.openapiRoute,
  service.jwksRoute,
  history.getCheckpointRoute,
  history.getTileRoute,
] as const satisfies readonly Route[];

export type KnownRoute = (typeof routes)[number];
export type RouteName = KnownRoute['name'];
