export const assetTypes = ['algorithm', 'dataset'] as const;
export type AssetType = (typeof assetTypes)[number];
