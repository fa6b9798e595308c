import * as v from 'valibot';
import { assetTypes } from '../../asset-type.ts';
import { assetRow } from '../../assets/asset.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import { entriesOf, pageEnvelope, paging } from '../../http/paging.ts';
import type { Route } from '../../http/route.ts';
import { assetRow as sampleRow } from '../samples.ts';
import { strictObject } from '../../strict-object.ts';
import { reads } from '../../uses.ts';

export const route = {
  name: 'assets/list-assets',
  endpoint: 16,
  method: 'GET',
  path: '/{domainID}/assets',
  summary: 'List assets, newest first',
  access: { anyOf: ['view'] },
  uses: { table: reads },
  impact: 'Users cannot list assets.',
} as const satisfies Route;

export const contract = {
  query: strictObject({
    ...paging,
    asset_type: v.optional(v.pipe(v.picklist(assetTypes), v.description('Return only assets of this type.'))),
  }),
  status: 200,
  response: v.pipe(
    v.object({ assets: entriesOf(assetRow, 'The assets, newest first.'), ...pageEnvelope }),
    v.title('AssetPage'),
    v.description('A page of the list of assets.'),
  ),
} as const satisfies Contract;

export const examples = { response: { assets: [sampleRow], limit: 10, offset: 0, total: 1 } } satisfies Examples<typeof contract>;
