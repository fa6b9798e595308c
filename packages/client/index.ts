export type { Schemas } from './generated/api-types.ts';
export { assetWithoutReading, rowOfAsset, type KnownAsset } from './calls/asset-without-reading.ts';
export {
  causeOf,
  isTransient,
  lacksTls,
  placeInDetail,
  placeText,
  type ProblemCode,
  type ProblemFields,
  ServiceProblem,
} from './calls/service-problem.ts';
export * from './calls/create-client.ts';
export { type KeyOwners, readKeyOwners } from './calls/key-owners.ts';
export * from './calls/pages.ts';
export { newKey, type RetryOptions, type Token, type TokenSource } from './calls/retrying-fetch.ts';
export { AddressError, isLoopback, serverAddress } from './calls/web-address.ts';
export { readLog } from './calls/read-log.ts';
export { pause, retryUntilAborted, type RetryUntilAbortedOptions, type SetTimer } from './calls/retry.ts';
export { fetchToken, tokensOfEvidence } from './transfer/fetch-token.ts';
export { largestUploadInBytes, sizeText } from './transfer/sizes.ts';
export { isEndOfRun, waitForRun, watchEvents, type WatchOptions, watchRun, type WatchRunOptions } from './calls/watch.ts';
export * from './tokens/token-sources.ts';
export * from './tokens/sign-in.ts';
export { type IssuerOptions, readClaims, type TokenSet } from './tokens/issuer.ts';
export { onlyCreatorUploads, renewUpload } from './transfer/renew-upload.ts';
export { type Cut, CutOffError } from './transfer/repeat-transfer.ts';
export { sendToStorage, type StorageResponse } from './transfer/send-to-storage.ts';
export { untilHashed } from './transfer/until-hashed.ts';
