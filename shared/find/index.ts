export { indexChangedNames, namedRowAt, rebuildNames } from './index-names.ts';
export { findKinds } from './names.ts';
