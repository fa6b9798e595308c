export { followLink, hasMoved, navigate, redirect, useAddress, useGoOn, useIsHere } from './navigation.ts';
export { aboveAsset, aboveComputation, aboveInComputation, addressOf, listAbove, type Place, placeOf } from './places.ts';
export { changedQuery, pageCount, pageOf, type PageQuery, pageSizes, tabOf, tabQuery } from './places.ts';
export { useUnsavedWork } from './unsaved-work.ts';
