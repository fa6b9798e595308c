import * as v from 'valibot';
import type { Contract, Examples } from '../../http/contract.ts';
import { entry } from '../../http/parse.ts';
import type { Route } from '../../http/route.ts';
import { invalidReport, reportSchema, reportsPerBatch } from '../../runs/report.ts';
import { reportSummarySchema } from '../../runs/report-summary.ts';
import { strictObject } from '../../strict-object.ts';
import { reportResults, reports } from '../samples.ts';

export const route = {
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
} as const satisfies Route;

const expected = `Expected 1 to ${reportsPerBatch} reports.`;

const reportBatch = v.pipe(
  strictObject({
    reports: v.pipe(
      v.array(entry(reportSchema, invalidReport)),
      v.minLength(1, expected),
      v.maxLength(reportsPerBatch, expected),
      v.description(`The reports, 1 to ${reportsPerBatch}.`),
    ),
  }),
  v.title('ReportBatch'),
  v.description('Reports of a CVM.'),
);

export const contract = {
  body: reportBatch,
  status: 200,
  response: reportSummarySchema,
  errors: ['unsupported_media_type', 'too_large'],
  description:
    'Records up to 50 reports. An event `ConsumingResults/Ready` or `Complete/Completed` completes the run. `Failed/Failed` or a ' +
    'rejection fails it. `Stopped/Stopped` ends a stop. Any report shows that the CVM is alive. Each report has a result, and an ' +
    'invalid one does not affect the others.',
} as const satisfies Contract;

export const examples = {
  request: { reports },
  response: { accepted: 3, duplicates: 0, results: reportResults },
} satisfies Examples<typeof contract>;
