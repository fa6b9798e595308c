/**
 * The interface of `shared/assets`, which creates, links, changes and deletes assets and receives their content. Code outside of
 * this folder, except for the handlers of assets, imports only these names: the cleanup of content, uploads that have arrived,
 * what a new asset without content has, and the links in an answer that is an asset.
 */

export { pendingContent } from './create-asset.ts';
export { collectContent } from './collect-content.ts';
export { fetchedAfter } from './given-content.ts';
export { receiveUpload, rememberUpload, renewUpload, reportDeletion } from './uploads.ts';
