import type { Schemas } from 'computation-management-client';

type AssetType = Schemas['AssetRow']['asset_type'];

export const assetTypeOptions: { value: AssetType; label: string }[] = [
  { value: 'algorithm', label: 'Algorithm' },
  { value: 'dataset', label: 'Dataset' },
];

export function assetTypeText(type: AssetType): string {
  return type === 'algorithm' ? 'Algorithm' : 'Dataset';
}

export const accessOptions = [
  { value: 'creator', label: 'Only me', description: 'Nobody else can read it, not even administrators.' },
  { value: 'domain', label: 'Every member of the domain', description: 'You see who read it.' },
] as const;

export const useOptions = [
  { value: 'open', label: 'Open', description: 'Computations may use it without asking you.' },
  { value: 'approval', label: 'With my approval', description: 'A run needs your approval of its manifest.' },
] as const;
