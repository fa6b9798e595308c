import { assetReplacement } from '../../assets/asset-input.ts';
import { assetSchema } from '../../assets/asset-schema.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { changesLists } from '../../uses.ts';
import { asset, assetBody } from '../samples.ts';

export const route = {
  name: 'assets/update-asset',
  endpoint: 18,
  method: 'PUT',
  path: '/{domainID}/assets/{id}',
  summary: 'Replace an asset',
  access: { anyOf: ['administer'], or: ['creator'] },
  uses: { table: changesLists, content: ['PutObject'] },
  isExpensive: true,
  impact: 'Users cannot change assets.',
} as const satisfies Route;

export const contract = {
  body: assetReplacement,
  /** The largest request that Lambda takes. */
  bodyLimit: 6 * 1024 * 1024,
  status: 200,
  response: assetSchema,
  etag: true,
  condition: 'if-match',
  errors: ['not_found', 'conflict', 'unsupported_media_type', 'too_large'],
  reasons: ['second_algorithm', 'file_name_taken', 'linked_too_widely'],
  description:
    'Replaces all fields. A field that you omit is reset to its default, except `asset`, `checksum`, `user_key`, ' +
    '`content_access` and `use`: they keep their values, and only the creator of the asset can change them. If you send new ' +
    'content without `checksum`, the service computes the checksum. Exception: a checksum that was declared for a file that is not ' +
    'stored stays the same. A new `file_name` or `asset_type` applies to all linked computations at once. Returns 409 if more than ' +
    '30 computations are linked. The response contains `content_withheld: true` if you may not read the content.',
} as const satisfies Contract;

export const examples = { request: assetBody, response: asset } satisfies Examples<typeof contract>;
