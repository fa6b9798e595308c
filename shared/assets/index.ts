export { collectContent } from './collect-content.ts';
export { cancelDeletions, isMarkedForDeletion } from './mark-for-deletion.ts';
export { receiveUpload, reportDeletion } from './uploads.ts';
