/**
 * The interface of `shared/deletion`, which removes what deleted computations, assets and domains leave in table and storage.
 * Other folders import only these names.
 */

export { beginPurge, purgeByLambda } from './begin-purge.ts';
export { walkDomain } from './belongings.ts';
export { purgeAll } from './purge-all.ts';
export { purgeAssetLinks, purgeListings } from './purge.ts';
