import { anyUserId, described, namedInput, namedObject, strictObject, text } from 'computation-management-formats/fields';
import * as v from 'valibot';
import { type Route, ifSent } from '../http/route.ts';
import { appends, changes } from '../runtime/uses.ts';

export const uploadKeyRoute = {
  name: 'keys/upload-key',
  endpoint: 10,
  method: 'POST',
  path: '/{domainID}/computations/{id}/key',
  summary: 'Upload your public key',
  access: { anyOf: ['view'] },
  uses: { table: [...appends, 'ConditionCheckItem'] },
  impact: 'Users cannot upload their keys, so computations cannot be run.',
  body: namedInput('KeyInput', 'A public key to upload.', {
    key: described(
      text(1, 16 * 1024),
      'An RSA, ECDSA or Ed25519 public key: an OpenSSH line as it is, or the base64 of an OpenSSH, PEM or DER file.',
    ),
  }),
  response: namedObject('UploadedKey', 'The confirmation of an uploaded key.', {
    uploaded: described(v.literal(true), '`true`: the key is uploaded.'),
  }),
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
  response: namedObject('KeyState', 'Whether your public key is uploaded.', {
    uploaded: described(v.boolean(), 'Whether you have uploaded a key to the computation.'),
  }),
} as const satisfies Route;

export const removeKeyRoute = {
  name: 'keys/remove-key',
  method: 'DELETE',
  path: '/{domainID}/computations/{id}/key',
  summary: 'Remove a public key',
  access: { anyOf: ['view'] },
  uses: { table: [...changes, 'ConditionCheckItem'] },
  impact: 'Users cannot remove their keys.',
  query: strictObject({
    user: ifSent(anyUserId, "Whose key, a user's `sub`. Default: the caller. Another user's: the owner or an administrator."),
  }),
  description: "Also succeeds if there is no key. The user's approval goes with the key. An active run keeps its manifest.",
} as const satisfies Route;
