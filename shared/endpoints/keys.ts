import { strictObject, text } from 'computation-management-formats/fields';
import * as v from 'valibot';
import type { Route } from '../http/route.ts';
import { adds } from '../runtime/uses.ts';

export const uploadKeyRoute = {
  name: 'keys/upload-key',
  endpoint: 10,
  method: 'POST',
  path: '/{domainID}/computations/{id}/key',
  summary: 'Upload your public key',
  access: { anyOf: ['view'] },
  uses: { table: [...adds, 'ConditionCheckItem'] },
  impact: 'Users cannot upload their keys, so computations cannot be run.',
  body: v.pipe(
    strictObject({
      key: v.pipe(
        text(1, 16 * 1024),
        v.description(
          'An RSA, ECDSA or Ed25519 public key: an OpenSSH line as it is, or the base64 of an OpenSSH, PEM or DER file.',
        ),
      ),
    }),
    v.title('KeyInput'),
    v.description('A public key to upload.'),
  ),
  status: 200,
  response: v.pipe(
    v.object({ uploaded: v.pipe(v.literal(true), v.description('`true`: the key is uploaded.')) }),
    v.title('UploadedKey'),
    v.description('The confirmation of an uploaded key.'),
  ),
  errors: ['not_found', 'unsupported_media_type', 'too_large'],
  description: 'Each user has one key per computation. Uploading again replaces it.',
} as const satisfies Route;

export const checkKeyRoute = {
  name: 'keys/check-key',
  endpoint: 11,
  method: 'GET',
  path: '/{domainID}/computations/{id}/key',
  summary: 'Check whether your public key is uploaded',
  access: { anyOf: ['view'] },
  uses: { table: ['BatchGetItem'] },
  impact: 'Users cannot check whether their key is uploaded.',
  status: 200,
  response: v.pipe(
    v.object({ uploaded: v.pipe(v.boolean(), v.description('Whether you have uploaded a key to the computation.')) }),
    v.title('KeyState'),
    v.description('Whether your public key is uploaded.'),
  ),
  errors: ['not_found'],
} as const satisfies Route;

export const removeKeyRoute = {
  name: 'keys/remove-key',
  method: 'DELETE',
  path: '/{domainID}/computations/{id}/key',
  summary: 'Remove a public key',
  access: { anyOf: ['view'] },
  uses: { table: [...adds, 'DeleteItem', 'ConditionCheckItem'] },
  impact: 'Users cannot remove their keys.',
  query: strictObject({
    user: v.optional(
      v.pipe(
        text(1, 255),
        v.description("Whose key, a user's `sub`. Default: the caller. Another user's: the owner or an administrator."),
      ),
    ),
  }),
  status: 204,
  errors: ['not_found'],
  description: "Also succeeds if there is no key. The user's approval goes with the key. An active run keeps its manifest.",
} as const satisfies Route;
