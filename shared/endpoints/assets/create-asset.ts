import { assetInput } from '../../assets/asset-input.ts';
import { assetSchema } from '../../assets/asset-schema.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { asset, assetBody } from '../samples.ts';
import { changesLists } from '../../uses.ts';

export const route = {
  name: 'assets/create-asset',
  endpoint: 15,
  method: 'POST',
  path: '/{domainID}/assets',
  summary: 'Create an asset',
  access: { anyOf: ['provide_algorithm', 'provide_dataset'] },
  uses: { table: changesLists, content: ['PutObject'] },
  isExpensive: true,
  impact: 'Users cannot add algorithms and datasets.',
} as const satisfies Route;

export const contract = {
  body: assetInput,
  /** The largest request that Lambda takes. */
  bodyLimit: 6 * 1024 * 1024,
  status: 201,
  response: assetSchema,
  etag: true,
  headers: { Location: 'The path of the asset.' },
  errors: ['unsupported_media_type', 'too_large'],
  description:
    'Send the content in `asset`, or omit `asset` and upload the content with the presigned request that the response has in `upload`.',
} as const satisfies Contract;

export const examples = { request: assetBody, response: asset } satisfies Examples<typeof contract>;
