import { assetReplacement, assetSchema } from '../../assets/asset.ts';
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
    '`content_access` and `use`, which stay the same and which only the creator of the asset may change. Without ' +
    '`checksum`, new content gets a new one, unless you gave the hash of a real file: that stays. A new `file_name` or ' +
    '`asset_type` applies to all linked computations at once. Returns 409 if more than 30 are linked. ' +
    'The response has `content_withheld: true` if you do not get the content of the asset.',
} as const satisfies Contract;

export const examples = { request: assetBody, response: asset } satisfies Examples<typeof contract>;
