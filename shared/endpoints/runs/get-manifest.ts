import * as v from 'valibot';
import type { Contract, Examples } from '../../http/contract.ts';
import { uncheckedId } from '../../identifier-schemas.ts';
import type { Route } from '../../http/route.ts';
import { manifestSchema } from '../../manifest/manifest.ts';
import { strictObject } from '../../strict-object.ts';
import { reads } from '../../uses.ts';
import { manifest } from '../samples.ts';

export const route = {
  name: 'runs/get-manifest',
  endpoint: 14,
  method: 'GET',
  path: '/{domainID}/computations/{id}/manifest',
  summary: 'Get a manifest',
  access: { anyOf: ['view'] },
  uses: { table: reads },
  impact: 'Users cannot check the manifest that a CVM gets.',
} as const satisfies Route;

export const contract = {
  query: strictObject({
    run: v.optional(
      v.pipe(
        uncheckedId(),
        v.description('Return the manifest that this run was started with. Default: the manifest that a run would get now.'),
      ),
    ),
  }),
  status: 200,
  response: manifestSchema,
  headers: { 'manifest-digest': 'The digest of the manifest: the SHA3-256, hex, of its canonical JSON (RFC 8785).' },
  errors: ['not_found', 'incomplete'],
  description:
    'Returns 422 with the missing items if a part of the manifest is missing. Missing approvals do not count as missing items here, ' +
    'because the manifest is what the parties approve.',
} as const satisfies Contract;

export const examples = { response: manifest } satisfies Examples<typeof contract>;
