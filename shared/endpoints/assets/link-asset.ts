import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { changesLists } from '../../uses.ts';
import { assetId, computationId } from '../samples.ts';
import { linkState } from './link-state.ts';

export const route = {
  name: 'assets/link-asset',
  endpoint: 20,
  method: 'POST',
  path: '/{domainID}/assets/{id}/{computationID}',
  summary: 'Link an asset to a computation',
  access: { anyOf: ['administer'], or: ['creator', 'owner'] },
  uses: { table: changesLists },
  impact: 'Users cannot link assets, so computations cannot be run.',
} as const satisfies Route;

export const contract = {
  status: 200,
  response: linkState(true, 'LinkedAsset'),
  errors: ['not_found', 'conflict', 'too_large'],
  reasons: ['second_algorithm', 'file_name_taken'],
  description:
    'A computation can have one algorithm and up to 100 datasets with different file names. Repeating the request changes nothing.',
} as const satisfies Contract;

export const examples = {
  response: { asset_id: assetId, computation_id: computationId, linked: true },
} satisfies Examples<typeof contract>;
