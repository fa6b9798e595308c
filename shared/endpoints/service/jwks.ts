import * as v from 'valibot';
import { publicJwkSchema } from '../../evidence/es256.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { publicJwk } from '../samples.ts';

export const route = {
  name: 'service/jwks',
  method: 'GET',
  path: '/.well-known/jwks.json',
  summary: 'Get the public keys that verify evidence',
  uses: { publishedKeys: ['GetPublicKey'] },
  impact: 'Parties cannot get the keys that verify evidence.',
} as const satisfies Route;

export const contract = {
  status: 200,
  response: v.pipe(
    v.object({ keys: v.pipe(v.array(publicJwkSchema), v.description('The current signing key and all former ones.')) }),
    v.title('PublicKeys'),
    v.description('The public keys that verify evidence, as a JSON Web Key Set (RFC 7517).'),
  ),
} as const satisfies Contract;

export const examples = { response: { keys: [publicJwk] } } satisfies Examples<typeof contract>;
