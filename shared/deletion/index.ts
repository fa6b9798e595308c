export { beginPurge, purgeByLambda } from './begin-purge.ts';
export { walkDomain } from './belongings.ts';
export { purgeAll } from './purge-all.ts';
export { purgeAssetLinks, purgeListings } from './purge.ts';
