import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { changesLists } from '../../uses.ts';
import { assetId, computationId } from '../samples.ts';
import { linkState } from './link-state.ts';

export const route = {
  name: 'assets/unlink-asset',
  endpoint: 22,
  method: 'PUT',
  path: '/{domainID}/assets/{id}/{computationID}',
  summary: 'Unlink an asset from a computation',
  access: { anyOf: ['administer'], or: ['creator', 'owner'] },
  uses: { table: changesLists },
  impact: 'Users cannot unlink assets.',
} as const satisfies Route;

export const contract = {
  status: 200,
  response: linkState(false, 'UnlinkedAsset'),
  errors: ['not_found'],
  description: 'An active run keeps the assets that it was started with. Repeating the request changes nothing.',
} as const satisfies Contract;

export const examples = {
  response: { asset_id: assetId, computation_id: computationId, linked: false },
} satisfies Examples<typeof contract>;
