import { strictObject } from 'computation-management-formats/fields';
import { idOfAsset, idOfComputation } from 'computation-management-formats/identifiers';
import { assetTypes } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { assetInput, assetReplacement } from '../assets/asset-input.ts';
import { assetRow, assetSchema } from '../rows/asset.ts';
import type { Route } from '../http/route.ts';
import { adds, appends, changes, reads } from '../runtime/uses.ts';
import { entriesOf, pageEnvelope, paging } from '../http/query-parameters.ts';
import { computationPage } from './computations.ts';

/**
 * Makes the schema of an answer that says whether an asset is linked.
 * @param title names the schema in the OpenAPI document
 */
/*#__NO_SIDE_EFFECTS__*/
function linkState<const Linked extends boolean>(linked: Linked, title: string) {
  return v.pipe(
    v.object({
      asset_id: idOfAsset,
      computation_id: idOfComputation,
      linked: v.pipe(v.literal(linked), v.description('Whether the asset is linked to the computation after the request.')),
    }),
    v.title(title),
    v.description(linked ? 'A link that exists.' : 'A link that no longer exists.'),
  );
}

export const createAssetRoute = {
  name: 'assets/create-asset',
  endpoint: 15,
  method: 'POST',
  path: '/{domainID}/assets',
  summary: 'Create an asset',
  access: { anyOf: ['provide_algorithm', 'provide_dataset'] },
  uses: { table: [...adds, 'DeleteItem'], content: ['PutObject'] },
  isExpensive: true,
  impact: 'Users cannot add algorithms and datasets.',
  body: assetInput,
  /** The largest body of a request to create an asset, in bytes: as large as the largest request that Lambda takes. */
  bodyLimit: 6 * 1024 * 1024,
  status: 201,
  response: assetSchema,
  etag: true,
  headers: { Location: 'The path of the asset.' },
  errors: ['unsupported_media_type', 'too_large'],
  description:
    'Send the content in `asset`, or omit `asset` and upload the content with the presigned request that the response has in `upload`. ' +
    'Or name in `source` where the agent fetches the content: then the service has none, and the asset is `ready` at once.',
} as const satisfies Route;

export const listAssetsRoute = {
  name: 'assets/list-assets',
  endpoint: 16,
  method: 'GET',
  path: '/{domainID}/assets',
  summary: 'List assets, newest first',
  access: { anyOf: ['view'] },
  uses: { table: reads },
  impact: 'Users cannot list assets.',
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
} as const satisfies Route;

export const getAssetRoute = {
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
  status: 200,
  response: assetSchema,
  etag: true,
  condition: 'if-none-match',
  errors: ['not_found'],
  description:
    'Returns content of up to 4 MiB in `asset`, and a presigned request for larger content in `download`. Only the creator of the ' +
    'asset gets the content, unless `content_access` is `domain`. The response to others has `content_withheld: true` instead. ' +
    'Records reads by others, and returns the latest 100 of them to the creator in `content_reads`.',
} as const satisfies Route;

export const updateAssetRoute = {
  name: 'assets/update-asset',
  endpoint: 18,
  method: 'PUT',
  path: '/{domainID}/assets/{id}',
  summary: 'Replace an asset',
  access: { anyOf: ['administer'], or: ['creator'] },
  uses: { table: changes, content: ['PutObject'] },
  isExpensive: true,
  impact: 'Users cannot change assets.',
  body: assetReplacement,
  /** The largest body of a request to replace an asset, in bytes: as large as the largest request that Lambda takes. */
  bodyLimit: 6 * 1024 * 1024,
  status: 200,
  response: assetSchema,
  etag: true,
  condition: 'if-match',
  errors: ['not_found', 'conflict', 'unsupported_media_type', 'too_large'],
  reasons: ['second_algorithm', 'file_name_taken', 'linked_too_widely'],
  description:
    'Replaces all fields. A field that you omit is reset to its default, except `asset`, `checksum`, `user_key`, ' +
    '`content_access`, `use`, `source`, `kbs`, `decompress`, `algo_type` and `algo_args`: they keep their values, and only the creator of ' +
    'the asset can change them. `source: null` removes all that goes with it. If you send new ' +
    'content without `checksum`, the service computes the checksum. Exception: a checksum that was declared for a file that is not ' +
    'stored stays the same. A new `file_name` or `asset_type` applies to all linked computations at once. Returns 409 if more than ' +
    '30 computations are linked. The response contains `content_withheld: true` if you may not read the content.',
} as const satisfies Route;

export const deleteAssetRoute = {
  name: 'assets/delete-asset',
  endpoint: 19,
  method: 'DELETE',
  path: '/{domainID}/assets/{id}',
  summary: 'Delete an asset',
  access: { anyOf: ['administer'], or: ['creator'] },
  uses: { table: changes, purge: ['InvokeFunction'] },
  isExpensive: true,
  impact: 'Users cannot delete assets.',
  status: 204,
  condition: 'if-match',
  errors: ['not_found', 'conflict'],
  reasons: ['asset_in_use'],
  description: 'Also deletes its content and links. Returns 409 while an active run uses the asset.',
} as const satisfies Route;

export const linkAssetRoute = {
  name: 'assets/link-asset',
  endpoint: 20,
  method: 'POST',
  path: '/{domainID}/assets/{id}/{computationID}',
  summary: 'Link an asset to a computation',
  access: { anyOf: ['administer'], or: ['creator', 'owner'] },
  uses: { table: appends },
  impact: 'Users cannot link assets, so computations cannot be run.',
  status: 200,
  response: linkState(true, 'LinkedAsset'),
  errors: ['not_found', 'conflict', 'too_large'],
  reasons: ['second_algorithm', 'file_name_taken'],
  description:
    'A computation can have one algorithm and up to 100 datasets with different file names. Repeating the request changes nothing.',
} as const satisfies Route;

export const listLinkedComputationsRoute = {
  name: 'assets/list-linked-computations',
  endpoint: 21,
  method: 'GET',
  path: '/{domainID}/assets/{id}/computations',
  summary: 'List the computations linked to an asset, newest first',
  access: { anyOf: ['view'] },
  uses: { table: reads },
  impact: 'Users cannot see which computations use an asset.',
  query: strictObject(paging),
  status: 200,
  response: computationPage,
  errors: ['not_found'],
} as const satisfies Route;

export const unlinkAssetRoute = {
  name: 'assets/unlink-asset',
  endpoint: 22,
  method: 'PUT',
  path: '/{domainID}/assets/{id}/{computationID}',
  summary: 'Unlink an asset from a computation',
  access: { anyOf: ['administer'], or: ['creator', 'owner'] },
  uses: { table: changes },
  impact: 'Users cannot unlink assets.',
  status: 200,
  response: linkState(false, 'UnlinkedAsset'),
  errors: ['not_found'],
  description: 'An active run keeps the assets that it was started with. Repeating the request changes nothing.',
} as const satisfies Route;
