import * as v from 'valibot';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { reportBatch } from '../../runs/report.ts';
import { reports } from '../samples.ts';

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
  loses: 'CVMs cannot report, so active runs look silent and fail.',
} as const satisfies Route;

export const contract = {
  body: reportBatch,
  status: 200,
  response: v.pipe(
    v.object({
      accepted: v.pipe(v.number(), v.integer(), v.description('The number of reports recorded.')),
      duplicates: v.pipe(v.number(), v.integer(), v.description('The number of reports ignored because they were sent before.')),
    }),
    v.title('ReportSummary'),
  ),
  errors: ['not_found', 'unsupported_media_type', 'too_large'],
  description:
    'Sends up to 50 reports. An event `ConsumingResults/Ready` or `Complete/Completed` completes the run. `Failed/Failed` or a ' +
    'rejection fails it. `Stopped/Stopped` ends a stop. Any report shows that the CVM is alive.',
} as const satisfies Contract;

export const examples = {
  request: { reports },
  response: { accepted: 3, duplicates: 0 },
} satisfies Examples<typeof contract>;
