import { arrayOf, namedInput, namedObject, orNull, strictObject } from 'computation-management-formats/fields';
import * as v from 'valibot';
import { type Route, waitParameter, entriesOf, pageOf, paging } from '../http/route.ts';
import { commandSchema } from '../rows/command.ts';
import { heldRunSchema } from '../cvms/list-commands.ts';
import { waiting, reads, changes } from '../runtime/uses.ts';
import { entry } from '../http/parse.ts';
import { invalidReport, reportSchema, reportsPerBatch, reportSummarySchema } from '../cvms/report.ts';
import { cvmInput } from '../cvms/cvm-input.ts';
import { cvmSchema } from '../rows/cvm.ts';

export const listCommandsRoute = {
  name: 'cvms/list-commands',
  endpoint: 25,
  method: 'GET',
  path: '/{domainID}/cvms/{cvmID}/commands',
  summary: 'List the open commands of a CVM, oldest first, and its active run',
  access: { anyOf: ['operate_cvm'] },
  uses: { table: ['GetItem', 'BatchGetItem', 'UpdateItem', ...waiting], sealingKey: ['Decrypt'] },
  waits: true,
  impact: 'CVMs get no commands, so new runs are not accepted and fail.',
  query: strictObject({ wait: waitParameter }),
  response: namedObject('CommandList', 'The open commands of a CVM, and the run that holds it.', {
    commands: arrayOf(commandSchema, 2, 'The open commands of the CVM, oldest first.'), // to run and to stop the run that holds the CVM
    run: orNull(heldRunSchema, 'The active run that holds the CVM. null if none does.'),
  }),
  description:
    'Returns a command until the CVM accepts or rejects it, or until it expires. A request to stop the run withdraws its `run` command if ' +
    'that was not accepted. With `wait`, the response is held until there is a command. Commands of type `run` have `manifest` and ' +
    '`agent_config`. Returns 403 with the reason `gateway_only` for a CVM that is registered with a certificate.',
} as const satisfies Route;

const expected = `Expected 1 to ${reportsPerBatch} reports.`;

const reportBatch = namedInput('ReportBatch', 'Reports of a CVM.', {
  reports: v.pipe(
    v.array(entry(reportSchema, invalidReport)),
    v.minLength(1, expected),
    v.maxLength(reportsPerBatch, expected),
    v.description(`The reports, 1 to ${reportsPerBatch}.`),
  ),
});

export const reportRoute = {
  name: 'cvms/report',
  endpoint: 26,
  method: 'POST',
  path: '/{domainID}/cvms/{cvmID}/reports',
  summary: 'Report on runs',
  takesKey: false,
  access: { anyOf: ['operate_cvm'] },
  uses: {
    table: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
    stateMachine: ['SendTaskSuccess', 'SendTaskHeartbeat'],
  },
  reserves: 'reports',
  impact: 'CVMs cannot report, so active runs look silent and fail.',
  body: reportBatch,
  response: reportSummarySchema,
  description:
    'Records up to 50 reports. An event `ConsumingResults/Ready` or `Complete/Completed` completes the run. `Failed/Failed` or a ' +
    'rejection fails it. `Stopped/Stopped` ends a stop. Any report shows that the CVM is alive. Each report has a result, and an ' +
    'invalid one does not affect the others. Returns 403 with the reason `gateway_only` for a CVM that is registered with a certificate.',
} as const satisfies Route;

export const listCvmsRoute = {
  name: 'cvms/list-cvms',
  method: 'GET',
  path: '/{domainID}/cvms',
  summary: 'List registered CVMs, newest first',
  access: { anyOf: ['view'] },
  uses: { table: reads },
  impact: 'Users cannot list CVMs.',
  query: strictObject({ ...paging }),
  response: pageOf('CvmPage', 'A page of the list of CVMs.', {
    cvms: entriesOf(cvmSchema, 'The registered CVMs, newest first.'),
  }),
} as const satisfies Route;

export const getCvmRoute = {
  name: 'cvms/get-cvm',
  method: 'GET',
  path: '/{domainID}/cvms/{cvmID}',
  summary: 'Get a registered CVM',
  access: { anyOf: ['view'] },
  uses: { table: ['BatchGetItem'] },
  impact: 'Users cannot open a CVM.',
  response: cvmSchema,
  etag: true,
  condition: 'if-none-match',
  errors: ['not_found'],
} as const satisfies Route;

export const registerCvmRoute = {
  name: 'cvms/register-cvm',
  method: 'PUT',
  path: '/{domainID}/cvms/{cvmID}',
  summary: 'Register or update a CVM',
  access: { anyOf: ['administer'] },
  uses: { table: [...changes, 'ConditionCheckItem'] },
  impact: 'Administrators cannot register CVMs.',
  body: cvmInput,
  statusIfNew: 201,
  response: cvmSchema,
  etag: true,
  condition: 'if-match',
  reasons: ['cvm_busy', 'public_key_taken'],
  description:
    'A CVM with a certificate is served through the gateway alone. Returns 400 if `certificate` contains a private key, and 409 if ' +
    'another CVM of the domain has a certificate with the same public key, or if the certificate would change while a run holds the CVM. ' +
    'A run starts on a registered CVM only while the CVM is connected and its `fit` is not `spent`.',
} as const satisfies Route;

export const deleteCvmRoute = {
  name: 'cvms/delete-cvm',
  method: 'DELETE',
  path: '/{domainID}/cvms/{cvmID}',
  summary: 'Remove a registered CVM',
  access: { anyOf: ['administer'] },
  uses: { table: [...changes, 'ConditionCheckItem'] },
  impact: 'Administrators cannot remove CVMs.',
  condition: 'if-match',
  errors: ['not_found'],
  reasons: ['cvm_busy'],
  description: 'Also deletes the presence of the CVM. Keeps its past runs. Returns 409 while a run holds the CVM.',
} as const satisfies Route;
