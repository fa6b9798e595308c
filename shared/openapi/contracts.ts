import {
  createAssetContract,
  deleteAssetContract,
  getAssetContract,
  linkAssetContract,
  listAssetsContract,
  listLinkedComputationsContract,
  unlinkAssetContract,
  updateAssetContract,
} from '../contract/assets.ts';
import {
  createComputationContract,
  deleteComputationContract,
  getComputationContract,
  listComputationsContract,
  updateComputationContract,
} from '../contract/computations.ts';
import { listCommandsContract, reportContract } from '../contract/cvms.ts';
import { getStatusContract, listEventsContract } from '../contract/events.ts';
import { checkKeyContract, uploadKeyContract } from '../contract/keys.ts';
import {
  dryRunContract,
  getManifestContract,
  getRunContract,
  listRunsContract,
  startRunContract,
  stopRunContract,
} from '../contract/runs.ts';
import { healthContract, openapiContract } from '../contract/service.ts';
import { getStatisticsContract } from '../contract/statistics.ts';
import type { Contract } from '../http/contract.ts';
import type { RouteName } from '../routes.ts';

/** The contract of every route: a route without one does not compile. */
export const contracts = {
  'computations/create-computation': createComputationContract,
  'computations/list-computations': listComputationsContract,
  'computations/get-computation': getComputationContract,
  'computations/update-computation': updateComputationContract,
  'computations/delete-computation': deleteComputationContract,
  'runs/start-run': startRunContract,
  'runs/get-run': getRunContract,
  'runs/list-runs': listRunsContract,
  'statistics/get-statistics': getStatisticsContract,
  'keys/upload-key': uploadKeyContract,
  'keys/check-key': checkKeyContract,
  'runs/dry-run': dryRunContract,
  'runs/stop-run': stopRunContract,
  'runs/get-manifest': getManifestContract,
  'assets/create-asset': createAssetContract,
  'assets/list-assets': listAssetsContract,
  'assets/get-asset': getAssetContract,
  'assets/update-asset': updateAssetContract,
  'assets/delete-asset': deleteAssetContract,
  'assets/link-asset': linkAssetContract,
  'assets/list-linked-computations': listLinkedComputationsContract,
  'assets/unlink-asset': unlinkAssetContract,
  'events/list-events': listEventsContract,
  'events/get-status': getStatusContract,
  'cvms/list-commands': listCommandsContract,
  'cvms/report': reportContract,
  'service/health': healthContract,
  'service/openapi': openapiContract,
} satisfies Record<RouteName, Contract>;
