export { followLink, hasMoved, navigate, redirect, useAddress, useGoOn, useIsHere } from './navigation.ts';
export {
  aboveAsset,
  aboveComputation,
  aboveInComputation,
  addressOf,
  changedQuery,
  listAbove,
  pageCount,
  pageOf,
  type PageQuery,
  pageSizes,
  type Place,
  placeOf,
  tabOf,
  tabQuery,
} from './places.ts';
export { useUnsavedWork } from './unsaved-work.ts';
