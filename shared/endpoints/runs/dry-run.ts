import * as v from 'valibot';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { missingItemsSchema } from '../../manifest/manifest.ts';
import { reads } from '../../uses.ts';

export const route = {
  name: 'runs/dry-run',
  endpoint: 12,
  method: 'POST',
  path: '/{domainID}/computations/{id}/dryrun',
  summary: 'Check what is missing before a run',
  takesKey: false,
  access: { anyOf: ['view'] },
  uses: { table: reads },
  impact: 'Users cannot check whether a computation is ready to run.',
} as const satisfies Route;

export const contract = {
  status: 200,
  response: v.pipe(
    v.object({ missing_items: missingItemsSchema }),
    v.title('DryRun'),
    v.description('The result of the check before a run.'),
  ),
  optionalHeaders: {
    'manifest-digest': 'The digest of the manifest, if there is one: the SHA3-256, hex, of its canonical JSON.',
  },
  errors: ['not_found'],
  description:
    'If all three lists are empty, the computation is ready to run. Missing approvals are in `info`. An approval that is limited ' +
    'to CVMs counts here; whether it covers the CVM is checked when a run starts.',
} as const satisfies Contract;

export const examples = {
  response: { missing_items: { keys: ['alice'], hashes: ['penguins.csv'], info: ['Missing algorithm'] } },
} satisfies Examples<typeof contract>;
