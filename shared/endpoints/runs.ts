import { described, namedObject, shownText, strictObject } from 'computation-management-formats/fields';
import { comparedId, cvmId, identifier, uncheckedId } from 'computation-management-formats/identifiers';
import { runStatuses } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { type Route, entriesOf, ifSent, pageOf, paging, runIfSent } from '../http/route.ts';
import { adds, changes, reads } from '../runtime/uses.ts';
import { runSchema } from '../rows/run.ts';
import { missingItemsSchema, manifestSchema } from '../rows/manifest.ts';

const ofConfiguration =
  'The digest of the configuration: the SHA3-256, hex, of the canonical JSON (RFC 8785) of `{agent_config, approval, ' +
  'attestation_policy, log_access, result_review}`.';

export const startRunRoute = {
  name: 'runs/start-run',
  endpoint: 6,
  method: 'POST',
  path: '/{domainID}/computations/{id}/run',
  summary: 'Start a run',
  access: { anyOf: ['run'], or: ['owner'] },
  uses: {
    table: [...changes, 'ConditionCheckItem'],
    content: ['GetObject'], // attestation tokens are verified again
    bucket: ['ListBucket'], // so that a token that is gone is one, and no error
    stateMachine: ['StartExecution'],
  },
  impact: 'Users cannot start runs.',
  query: strictObject({ cvm: described(cvmId, 'The CVM to run on.') }),
  response: v.pipe(identifier, v.title('RunId'), v.description('The identifier of the run, as a JSON string.')),
  errors: ['incomplete'],
  reasons: ['run_active', 'cvm_busy', 'cvm_not_ready', 'cvm_not_attested', 'no_release_policy'],
  description:
    'Runs the computation on a CVM. A 409 with the reason `run_active` or `cvm_busy` contains the conflicting run in `run_id`. If you ' +
    'lost the response to an earlier request, `run_id` shows the run that this request started. With an `attestation_policy`, a run starts ' +
    'only on a CVM whose attestation tokens, verified again now, all satisfy it, over the connection that attested. Otherwise, a 409 with ' +
    'the reason `cvm_not_attested` names the failing checks.',
} as const satisfies Route;

export const getRunRoute = {
  name: 'runs/get-run',
  endpoint: 7,
  method: 'GET',
  path: '/{domainID}/computations/{id}/run',
  summary: 'Get a run of a computation',
  access: { anyOf: ['view'] },
  uses: { table: ['GetItem'] },
  impact: 'Users cannot see the progress of a run.',
  query: strictObject({ run: runIfSent }),
  response: runSchema,
} as const satisfies Route;

export const listRunsRoute = {
  name: 'runs/list-runs',
  endpoint: 8,
  method: 'GET',
  path: '/{domainID}/computations/runs',
  summary: 'List runs, newest first',
  access: { anyOf: ['view'] },
  uses: { table: reads },
  impact: 'Users cannot list runs.',
  query: strictObject({
    ...paging,
    status: ifSent(v.picklist(runStatuses), 'Return only runs with this status.'),
    computation_id: v.optional(
      v.pipe(comparedId(), v.description('Return only runs of this computation.'), v.metadata({ format: 'uuid' })),
    ),
  }),
  response: pageOf('RunPage', 'A page of the list of runs.', { runs: entriesOf(runSchema, 'The runs, newest first.') }),
} as const satisfies Route;

export const dryRunRoute = {
  name: 'runs/dry-run',
  endpoint: 12,
  method: 'POST',
  path: '/{domainID}/computations/{id}/dryrun',
  summary: 'Check what is missing before a run',
  takesKey: false,
  access: { anyOf: ['view'] },
  uses: { table: reads, content: ['GetObject'], bucket: ['ListBucket'] },
  impact: 'Users cannot check whether a computation is ready to run.',
  response: namedObject('DryRun', 'The result of the check before a run.', {
    missing_items: missingItemsSchema,
    warnings: v.optional(
      v.pipe(
        v.array(shownText(1_000)),
        v.description(
          'What may be a mistake and keeps no run from starting: datasets with the same content, or names that look the same. Absent ' +
            'if there is none.',
        ),
        v.examples([['"penguins.csv" and "copy.csv" have the same content']]),
      ),
    ),
  }),
  query: strictObject({
    cvm: ifSent(cvmId, 'Also check this CVM: whether the approvals allow it, and what a start on it would refuse.'),
  }),
  headers: { 'configuration-digest': ofConfiguration },
  optionalHeaders: {
    'manifest-digest': 'The digest of the manifest, if there is one: the SHA3-256, hex, of its canonical JSON.',
  },
  description:
    'If all three lists are empty, the computation is ready to run. Missing approvals are in `info`. Without `cvm`, an approval ' +
    'that is limited to CVMs counts here; whether it covers the CVM is checked when a run starts.',
} as const satisfies Route;

export const stopRunRoute = {
  name: 'runs/stop-run',
  endpoint: 13,
  method: 'POST',
  path: '/{domainID}/computations/{id}/stop',
  summary: 'Stop a run',
  access: { anyOf: ['run'], or: ['owner', 'creator'] },
  uses: { table: adds, stateMachine: ['StartExecution'] },
  impact: 'Users cannot stop runs.',
  response: runSchema,
  reasons: ['nothing_to_stop'],
  description:
    'Stops the active run of the computation. Repeating the request while the run is stopping returns the same response. ' +
    'If the CVM does not confirm the stop in time, the run ends as `cancelled`. The creator of an asset that the run uses may stop ' +
    'it too.',
} as const satisfies Route;

/** The declaration of the deprecated GET that stops a run. The function of the POST that stops a run serves the GET too. */
export const stopRunByGetRoute = {
  ...stopRunRoute,
  method: 'GET',
  summary: 'Stop a run (use POST instead)',
  deprecated: true,
} as const satisfies Route;

export const getManifestRoute = {
  name: 'runs/get-manifest',
  endpoint: 14,
  method: 'GET',
  path: '/{domainID}/computations/{id}/manifest',
  summary: 'Get a manifest',
  access: { anyOf: ['view'] },
  uses: { table: reads },
  impact: 'Users cannot check the manifest that a CVM gets.',
  query: strictObject({
    run: v.optional(
      uncheckedId('Return the manifest that this run was started with. Default: the manifest that a run would get now.'),
    ),
  }),
  response: manifestSchema,
  headers: {
    'manifest-digest': 'The digest of the manifest: the SHA3-256, hex, of its canonical JSON (RFC 8785).',
    'configuration-digest': ofConfiguration,
  },
  errors: ['incomplete'],
  description:
    'Returns 422 with the missing items if a part of the manifest is missing. Missing approvals do not count as missing items here, ' +
    'because the manifest is what the parties approve.',
} as const satisfies Route;
