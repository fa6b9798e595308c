import { described, namedObject, strictObject } from 'computation-management-formats/fields';
import { idOfAsset, idOfComputation } from 'computation-management-formats/identifiers';
import { shownAssetTypes } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { assetKeyInput, assetKeySchema } from '../assets/asset-keys.ts';
import { assetInput, assetReplacement } from '../assets/asset-input.ts';
import { assetRow, assetSchema } from '../rows/asset.ts';
import { type Route, entriesOf, ifSent, pageOf, paging } from '../http/route.ts';
import { adds, appends, changes, reads } from '../runtime/uses.ts';
import { computationPage } from './computations.ts';

/**
 * Makes the schema of an answer that says whether an asset is linked.
 * @param title names the schema in the OpenAPI document
 */
/*#__NO_SIDE_EFFECTS__*/
function linkState<const Linked extends boolean>(linked: Linked, title: string) {
  return namedObject(title, linked ? 'A link that exists.' : 'A link that no longer exists.', {
    asset_id: idOfAsset,
    computation_id: idOfComputation,
    linked: described(v.literal(linked), 'Whether the asset is linked to the computation after the request.'),
  });
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
    asset_type: ifSent(
      v.picklist(shownAssetTypes),
      'Return only assets of this type. Results of runs are listed with this filter alone.',
    ),
  }),
  response: pageOf('AssetPage', 'A page of the list of assets.', { assets: entriesOf(assetRow, 'The assets, newest first.') }),
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
    content: ['GetObject', 'PutObject'],
    bucket: ['ListBucket'],
  },
  reserves: 'slowReads',
  impact: 'Users cannot open an asset.',
  response: assetSchema,
  etag: true,
  condition: 'if-none-match',
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
  response: assetSchema,
  etag: true,
  condition: 'if-match',
  reasons: ['second_algorithm', 'file_name_taken', 'linked_too_widely', 'result_of_run'],
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
  condition: 'if-match',
  reasons: ['asset_in_use', 'result_of_run'],
  description:
    'Also deletes its content and links. Returns 409 while an active run uses the asset. The result of a run is deleted by the owner of ' +
    'the computation, or an administrator, after its release. Before, and of a withheld one, returns 409.',
} as const satisfies Route;

export const setAssetKeyRoute = {
  name: 'assets/set-asset-key',
  method: 'PUT',
  path: '/{domainID}/assets/{id}/key',
  summary: 'Give an asset a key that leaves only for the CVM of a run',
  access: { anyOf: [], or: ['creator'] },
  uses: { table: appends, sealingKey: ['GenerateDataKey'], seals: 'asset' },
  impact: 'Users cannot protect assets with keys.',
  body: assetKeyInput,
  response: assetKeySchema,
  reasons: ['no_checksum', 'no_release_policy', 'result_of_run'],
  description:
    'The first key sets `kbs` and `source.kbs_resource_path` of the asset, so the agent asks the service for it. Other keys and policies change ' +
    'no manifest, and a run keeps those it began with. 409 `no_release_policy`: without a `release_policy`, one of the first 100 computations that ' +
    'the asset is linked to must have an `attestation_policy`. 409 `no_checksum`: the asset has no `checksum` yet.',
} as const satisfies Route;

export const getAssetKeyRoute = {
  name: 'assets/get-asset-key',
  method: 'GET',
  path: '/{domainID}/assets/{id}/key',
  summary: "Get what is known of an asset's key",
  access: { anyOf: [], or: ['creator'] },
  uses: { table: ['BatchGetItem'] },
  impact: 'Users cannot see the state of their keys.',
  response: assetKeySchema,
} as const satisfies Route;

export const removeAssetKeyRoute = {
  name: 'assets/remove-asset-key',
  method: 'DELETE',
  path: '/{domainID}/assets/{id}/key',
  summary: 'Remove the key of an asset',
  access: { anyOf: [], or: ['creator'] },
  uses: { table: appends },
  impact: 'Users cannot take back their keys.',
  description:
    'Also succeeds if there is no key. No run starts with the asset until it has a key again. An active run keeps its key.',
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
  response: linkState(true, 'LinkedAsset'),
  errors: ['too_large'],
  reasons: ['second_algorithm', 'file_name_taken', 'result_of_run'],
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
  response: computationPage,
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
  response: linkState(false, 'UnlinkedAsset'),
  description: 'An active run keeps the assets that it was started with. Repeating the request changes nothing.',
} as const satisfies Route;
