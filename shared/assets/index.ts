/**
 * The interface of `shared/assets`, which creates, links, changes and deletes assets and receives their content. Code outside of
 * this folder, except for the handlers of assets, imports only these names: the cleanup of content, uploads that have arrived,
 * and deletions that a run cancels.
 */

export { collectContent } from './collect-content.ts';
export { cancelDeletions, isMarkedForDeletion } from './mark-for-deletion.ts';
export { receiveUpload, reportDeletion } from './uploads.ts';
