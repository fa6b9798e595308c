import * as v from 'valibot';
import type { Contract } from '../http/contract.ts';
import { strictObject } from '../strict-object.ts';
import { text } from '../text.ts';

export const uploadKeyContract = {
  body: strictObject({
    key: v.pipe(text(1, 16 * 1024), v.description('Base64 of an OpenSSH, PEM or DER public key; RSA, ECDSA or Ed25519.')),
  }),
  status: 200,
  response: v.object({ uploaded: v.literal(true) }),
  errors: ['not_found', 'unsupported_media_type', 'too_large'],
  description: 'One key per user and computation; sending again replaces it.',
} as const satisfies Contract;

export const checkKeyContract = {
  status: 200,
  response: v.object({ uploaded: v.boolean() }),
  errors: ['not_found'],
} as const satisfies Contract;
