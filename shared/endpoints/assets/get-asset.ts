import { assetSchema } from '../../assets/asset-schema.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { assetWithContent } from '../samples.ts';

export const route = {
  name: 'assets/get-asset',
  endpoint: 17,
  method: 'GET',
  path: '/{domainID}/assets/{id}',
  summary: 'Get an asset, with its content if you have access',
  access: { anyOf: ['view'] },
  uses: {
    table: ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem', 'ConditionCheckItem'],
    content: ['GetObject'],
    bucket: ['ListBucket'],
  },
  reserves: 'slowReads',
  impact: 'Users cannot open an asset.',
} as const satisfies Route;

export const contract = {
  status: 200,
  response: assetSchema,
  etag: true,
  condition: 'if-none-match',
  errors: ['not_found'],
  description:
    'Returns content of up to 4 MiB in `asset`, and a presigned request for larger content in `download`. Only the creator of the ' +
    'asset gets the content, unless `content_access` is `domain`. The response to others has `content_withheld: true` instead. ' +
    'Records reads by others, and returns the latest 100 of them to the creator in `content_reads`.',
} as const satisfies Contract;

export const examples = { response: assetWithContent } satisfies Examples<typeof contract>;
