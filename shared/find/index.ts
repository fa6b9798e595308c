/**
 * The interface of `shared/find`, which finds computations, assets and CVMs by name, identifier or checksum, and keeps the index
 * for that. Code outside of this folder, except for the handler of find, imports only these names: what keeps the index up to
 * date.
 */

export { indexChangedNames, rebuildNames } from './index-names.ts';
export { findKinds } from './names.ts';
