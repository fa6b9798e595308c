export { downloadAsset, type DownloadOptions } from './download-asset.ts';
export { FileChangedError, measureFile, type MeasuredFile, tooLarge, type TransferProgress } from './send-content.ts';
export { loopbackSignIn, type LoopbackSignInOptions } from './loopback-sign-in.ts';
export { neverProxyLoopback } from './never-proxy-loopback.ts';
export { type Cut, CutOffError } from '../transfer/repeat-transfer.ts';
export * from './upload-asset.ts';
