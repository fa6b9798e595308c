import * as v from 'valibot';
import { assetInput, assetReplacement, assetRow, assetSchema, assetTypes } from '../assets/asset.ts';
import { computationRow } from '../computations/computation.ts';
import type { Contract } from '../http/contract.ts';
import { identifier, pageEnvelope, paging } from '../text.ts';

/** The largest request that Lambda takes. */
const bodyWithContentInBytes = 6 * 1024 * 1024;

export const createAssetContract = {
  body: assetInput,
  bodyLimit: bodyWithContentInBytes,
  status: 201,
  response: assetSchema,
  headers: { Location: "The asset's path." },
  errors: ['unsupported_media_type', 'too_large'],
  description:
    'With `asset`, the content is stored at once. Without, the answer has `upload`: a presigned request straight to storage.',
} as const satisfies Contract;

export const listAssetsContract = {
  query: v.strictObject({
    ...paging,
    asset_type: v.optional(v.pipe(v.picklist(assetTypes), v.description('Only assets of this type.'))),
  }),
  status: 200,
  response: v.object({ assets: v.array(assetRow), ...pageEnvelope }),
} as const satisfies Contract;

export const getAssetContract = { status: 200, response: assetSchema, errors: ['not_found'] } as const satisfies Contract;

export const updateAssetContract = {
  body: assetReplacement,
  bodyLimit: bodyWithContentInBytes,
  status: 200,
  response: assetSchema,
  errors: ['not_found', 'conflict', 'unsupported_media_type', 'too_large'],
  description:
    'A full replacement; `asset` left out keeps the content. `file_name` and `asset_type` change in every linked computation at once, of which there may be at most 30 then.',
} as const satisfies Contract;

export const deleteAssetContract = {
  status: 204,
  errors: ['not_found', 'conflict'],
  description: 'Refused while an active run uses it. Its content and links go with it.',
} as const satisfies Contract;

const linkState = (linked: boolean) => v.object({ asset_id: identifier, computation_id: identifier, linked: v.literal(linked) });

export const linkAssetContract = {
  status: 200,
  response: linkState(true),
  errors: ['not_found', 'conflict', 'too_large'],
  description: 'May be repeated. One algorithm and at most 100 datasets, of different file names, per computation.',
} as const satisfies Contract;

export const unlinkAssetContract = {
  status: 200,
  response: linkState(false),
  errors: ['not_found'],
  description: 'May be repeated. An active run keeps what it began with.',
} as const satisfies Contract;

export const listLinkedComputationsContract = {
  query: v.strictObject(paging),
  status: 200,
  response: v.object({ computations: v.array(computationRow), ...pageEnvelope }),
  errors: ['not_found'],
} as const satisfies Contract;
