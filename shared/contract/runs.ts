import * as v from 'valibot';
import type { Contract } from '../http/contract.ts';
import { manifestSchema, missingItemsSchema } from '../manifest/manifest.ts';
import { runSchema } from '../computations/run.ts';
import { cvmId, identifier, pageEnvelope, paging } from '../text.ts';

const olderRun = { run: v.optional(v.pipe(v.string(), v.description('A run of this computation; the latest unless told.'))) };

export const startRunContract = {
  query: v.strictObject({ cvm: v.pipe(cvmId, v.description('The CVM to run on.')) }),
  status: 200,
  response: v.pipe(identifier, v.description('The run identifier, a JSON string.')),
  errors: ['not_found', 'conflict', 'incomplete'],
  description:
    'A 409 names the run that is in the way in `run_id`, so a caller whose answer got lost learns what became of its request.',
} as const satisfies Contract;

export const getRunContract = {
  query: v.strictObject(olderRun),
  status: 200,
  response: runSchema,
  errors: ['not_found'],
} as const satisfies Contract;

export const listRunsContract = {
  query: v.strictObject(paging),
  status: 200,
  response: v.object({ runs: v.array(runSchema), ...pageEnvelope }),
} as const satisfies Contract;

export const stopRunContract = {
  status: 200,
  response: runSchema,
  errors: ['not_found', 'conflict'],
  description:
    'Repeated while stopping, the answer is the same. A stop that no CVM confirms in time ends the run all the same, as cancelled.',
} as const satisfies Contract;

export const dryRunContract = {
  status: 200,
  response: v.object({ missing_items: missingItemsSchema }),
  errors: ['not_found'],
  description: 'All three lists empty: ready to run.',
} as const satisfies Contract;

export const getManifestContract = {
  query: v.strictObject({
    run: v.optional(v.pipe(v.string(), v.description('The manifest that this run was started with; else as it is now.'))),
  }),
  status: 200,
  response: manifestSchema,
  errors: ['not_found', 'incomplete'],
  description: 'A computation that is not ready has no manifest: 422 with what is missing.',
} as const satisfies Contract;
